# cmake -DINPUT=file -DOUTPUT=file.inc -P EmbedFile.cmake
# Writes the bytes of a file as the initial values of a C array.
file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE "${OUTPUT}" "${bytes}\n")

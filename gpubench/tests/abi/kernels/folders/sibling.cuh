#error "the file in the folder of the including file goes first"

module example.invalid/muster/tools/image/pause

go 1.21

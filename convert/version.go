package convert

// Version of the program. It is written into outputs, so the same version writes the same bytes.
const Version = "0.1.0"

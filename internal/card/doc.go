// Package card writes the README.md of a data set on the Hugging Face Hub: metadata in YAML, which
// tells the datasets library the files of each split and the types of the columns, and a few lines
// for people. See https://huggingface.co/docs/hub/datasets-cards.
package card

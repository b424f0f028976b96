// Package card writes the README.md of a data set on Hugging Face's Hub: metadata in YAML, which tells datasets where the files of each split are
// and what is in their columns, and a few lines for people. See https://huggingface.co/docs/hub/datasets-cards.
package card

/** Reads the files of `sim venue set` and `path` and validates them before any call; errors name file and line. */
import { readFileSync, statSync } from "node:fs"
import { longestPathText, readPricePath } from "../src/venue/pricePath.ts"
import { longestKnobs } from "../src/venue/testerTokens.ts"
import { cliFailure, type CliFailure, exitStatus } from "./CliIo.ts"

/** The content of a file with the simulator's knobs. Throws a CliFailure when it is invalid. */
export const readKnobsFile = async (path: string): Promise<string> => {
  const text = readText(path, longestKnobs)
  const { readKnobs } = await import("../simulator/venue/knobsFile.ts")
  const knobs = readKnobs(text, path)
  if (typeof knobs === "string") throw usage(knobs)
  return text
}

/** The content of a file with a price path. Throws a CliFailure when it is invalid. */
export const readPathFile = (path: string): string => {
  const text = readText(path, longestPathText)
  const read = readPricePath(text)
  if ("sentence" in read) throw usage(`${path}, line ${read.line}: ${read.sentence}`)
  return text
}

const readText = (path: string, longest: number): string => {
  try {
    if (statSync(path).size > longest) throw usage(`${path} is longer than ${longest} bytes.`)
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path))
  } catch (error) {
    if (error instanceof TypeError) throw usage(`${path} is not UTF-8 text.`)
    if ((error as { readonly code?: unknown }).code !== undefined) throw usage(`${path} can't be read.`)
    throw error
  }
}

const usage = (sentence: string): CliFailure => cliFailure(exitStatus.usage, 4000, sentence)

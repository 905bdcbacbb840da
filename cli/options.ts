/** Parsers of option values. A value that does not parse is wrong usage (exit status 2). */
import { Argument, InvalidArgumentError, Option } from "commander"
import { parseDuration } from "./duration.ts"

/** A parser of whole numbers from `minimum` to `maximum`, both included. Any other text is wrong usage. */
export const whole =
  (minimum: number, maximum: number) =>
  (text: string): number => {
    const value = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= minimum && value <= maximum)) {
      throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`)
    }
    return value
  }

/** Parses a duration such as 500ms, 90s, 15m, 8h or 2d into milliseconds. */
export const durationOption = (text: string): number => {
  const millis = parseDuration(text)
  if (millis === null) throw new InvalidArgumentError("It must be a duration such as 500ms, 90s, 15m, 8h or 2d.")
  return millis
}

/** An option with a value that the command can't run without; its absence is wrong usage. */
export const required = (flags: string, description: string): Option =>
  new Option(flags, description).makeOptionMandatory()

/** A required option whose value is one of `tokens`; any other value is wrong usage. */
export const requiredToken = (flags: string, description: string, tokens: ReadonlyArray<string>): Option =>
  required(flags, description).choices(tokens)

export const tokenOption = (flags: string, description: string, tokens: ReadonlyArray<string>): Option =>
  new Option(flags, description).choices(tokens)

export const tokenArgument = (name: string, description: string, tokens: ReadonlyArray<string>): Argument =>
  new Argument(name, description).choices(tokens)

/** The options that select a page of a list: its length, and the id below which it begins. */
export const limitOption = (maximum: number): Option =>
  new Option("--limit <n>", `at most this many, up to ${maximum}`).argParser(whole(1, maximum))
export const beforeOption = new Option("--before <id>", "only rows older than this id").argParser(
  whole(1, Number.MAX_SAFE_INTEGER)
)

/** Removes undefined members, because optional keys of the contract must be absent instead. */
export const given = <A extends object>(options: A): { [K in keyof A]: Exclude<A[K], undefined> } =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [K in keyof A]: Exclude<A[K], undefined>
  }

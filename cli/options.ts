/** Parsers of option values. A value that does not parse is wrong usage (exit status 2). */
import { Argument, InvalidArgumentError, Option } from "commander"
import { codeShape } from "../src/http/api/operator/operatorTokens.ts"
import { clientNameShape, idShape } from "../src/machines/shared/Text.ts"
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

/** A parser of texts that name an object. Any other text is wrong usage, so that no call is made. */
const named =
  (isName: (text: string) => boolean, example: string) =>
  (text: string): string => {
    if (isName(text)) return text
    throw new InvalidArgumentError(`It must be ${example}.`)
  }

/** An argument that is the id of one object: "7", or with the prefix of its kind, "O-7". */
export const idArgument = (name: string, description: string, prefix = ""): Argument => {
  const parse = named(
    (text) => idShape.test(prefix !== "" && text.startsWith(prefix) ? text.slice(prefix.length) : text),
    `an id such as ${prefix === "" ? "7" : `${prefix}7 or 7`}`
  )
  return new Argument(name, description).argParser((text: string) => parse(text.toUpperCase()))
}

const isClient = (text: string): boolean => idShape.test(text) || clientNameShape.test(text)
const clientName = named(isClient, "the id, uid, reference or e-mail address of a client")
const partnerName = named((text) => idShape.test(text) || codeShape.test(text), "the id or the code of a partner")

/** The argument that names a client, and the option that limits a list to one client. */
export const clientArgument = (
  name = "<C>",
  description = "client: id, uid, reference (acme-1, ACME/acme-1) or e-mail address"
): Argument => new Argument(name, description).argParser(clientName)
export const clientOption = (): Option =>
  new Option("--client <C>", "only of this client: id, uid, reference or e-mail address").argParser(clientName)

/** The argument that names a partner, and the option that limits a list to one partner. */
export const partnerArgument = (): Argument => new Argument("<P>", "partner id or code").argParser(partnerName)
export const partnerOption = (): Option =>
  new Option("--partner <P>", "only of this partner: id or code").argParser(partnerName)

/** The part of the books that a break concerns: ALL, a partner or a client. */
export const scopeName = named(isClient, "ALL, a partner or a client")

/** An object as the audit names it. */
export const objectName = named(
  (text) => /^[A-Za-z]+(:[^:]+)+$/.test(text),
  "KIND:ID, such as order:7 or verificationBlock:5:PEP"
)

/** An object that `venue resolve` ends. */
export const resolvableName = named(
  (text) => /^(rfq|order|swap|contract):[1-9][0-9]{0,18}$/.test(text),
  "rfq:ID, order:ID, swap:ID or contract:ID"
)

/** An object of any machine: its id, a block's CLIENT:CODE, or the name of its client or partner. */
export const instanceName = named(isClient, "the id of an object, such as 7")

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

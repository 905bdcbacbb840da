/**
 * Parses times: a duration (`2h`), a date or a date with a time of day (in UTC, like the books), or Unix ms (operator
 * surface, rules for every command).
 */
import { type Command, InvalidArgumentError, Option } from "commander"
import type { Cli } from "./Cli.ts"
import { cliFailure, exitStatus, type Globals } from "./CliIo.ts"
import { findConnection } from "./connection.ts"
import { parseDuration } from "./duration.ts"
import { isInSeconds } from "../src/machines/shared/CalendarDate.ts"
import type { OperatorClient } from "./OperatorClient.ts"

/** Whether a duration counts back from now, or forward. */
export type Direction = "ago" | "ahead"

const form = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?)?$/

/** The time in Unix ms; null when the text is invalid. */
export const parseMoment = (text: string, direction: Direction, now: number): number | null => {
  const duration = parseDuration(text)
  if (duration === null) return parseDate(text)
  return direction === "ago" ? Math.max(0, now - duration) : now + duration
}

/**
 * Like `parseMoment`, without durations. A date without a time is the start of its day; a date that does not exist is
 * invalid.
 */
export const parseDate = (text: string): number | null => {
  if (/^(0|[1-9][0-9]{0,15})$/.test(text)) return Number.isSafeInteger(Number(text)) ? Number(text) : null
  const [whole, date = "", clock = "00:00", zone = "Z"] = form.exec(text) ?? []
  if (whole === undefined || !isDay(date)) return null
  const at = Date.parse(`${date}T${clock}${zone}`)
  return Number.isNaN(at) || at < 0 ? null : at
}

const dayMillis = 86_400_000

/** Like `parseDate`, for the end of a period: a date without a time is the last moment of that day. */
const parseLast = (text: string): number | null => {
  const at = parseDate(text)
  return at !== null && /^\d{4}-\d{2}-\d{2}$/.test(text) ? at + dayMillis - 1 : at
}

/** Whether the date exists: Date.parse would accept 31 June as 1 July. */
const isDay = (date: string): boolean => {
  const at = Date.parse(`${date}T00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date)
}

/** Throws when the number is in seconds, because as ms it would be a day in 1970. */
export const refuseSeconds = (text: string): void => {
  if (/^[0-9]+$/.test(text) && isInSeconds(Number(text))) {
    throw new InvalidArgumentError(`${text} is a number of seconds: write it in Unix milliseconds, ${text}000.`)
  }
}

/** The accepted forms of a time, for an option's help. */
export const momentForms = {
  ago: "2h, 2026-11-01, 2026-11-01T09:30 (UTC) or Unix ms",
  ahead: "2h from now, 2026-11-01T09:30 (UTC) or Unix ms"
}

/** A duration in place of a time. The service's clock resolves it (`answerMoments`). */
export class Relative {
  readonly text: string
  readonly direction: Direction
  readonly latest: number

  constructor(text: string, direction: Direction, latest: number) {
    this.text = text
    this.direction = direction
    this.latest = latest
  }

  /**
   * The time in Unix ms, counted from `now` in business time. Throws a CliFailure for a time later than the latest allowed
   * one.
   */
  from(now: number): number {
    const at = parseMoment(this.text, this.direction, now)
    if (at === null || at > this.latest)
      throw cliFailure(exitStatus.usage, 4000, `${this.text} from now is beyond the longest span.`)
    return at
  }
}

/**
 * Resolves durations among a command's options before the command runs. Filters apply to business time, which a sandbox can
 * advance, so the service's clock counts and not the local one. Without durations, the service is not called.
 */
export const answerMoments = async (cli: Cli, command: Command): Promise<void> => {
  const given = Object.entries(command.opts<Readonly<Record<string, unknown>>>())
  const relative = given.flatMap(([name, value]) => (value instanceof Relative ? [[name, value] as const] : []))
  if (relative.length === 0) return
  const connection = { ...findConnection(command.optsWithGlobals<Globals>(), cli.io), dryRun: false }
  const now = await (await cli.service())(connection, businessTime)
  for (const [name, value] of relative) command.setOptionValue(name, value.from(now))
}

/** The service's business time, read by a query that every role may send, in a sandbox and outside. */
const businessTime = async (api: OperatorClient): Promise<number> =>
  (await api.queue.show({ query: { limit: 1 } })).data.asOf

interface MomentRules {
  readonly direction?: Direction
  /** The latest time that the option accepts, Unix ms. */
  readonly latest?: number
  /** True when the period includes this time: a date without a time then means the last millisecond of that day. */
  readonly isLastMoment?: boolean
}

/** An option whose value is a time in Unix ms, or a `Relative` for a duration. Any other text is an invalid argument. */
export const momentOption = (
  flags: string,
  meaning: string,
  { direction = "ago", latest = Number.MAX_SAFE_INTEGER, isLastMoment = false }: MomentRules = {}
): Option =>
  new Option(flags, `${meaning}: ${momentForms[direction]}`).argParser((text) => {
    if (parseDuration(text) !== null) return new Relative(text, direction, latest)
    const at = isLastMoment ? parseLast(text) : parseDate(text)
    refuseSeconds(text)
    if (at === null || at > latest)
      throw new InvalidArgumentError(`It must be a time such as ${momentForms[direction]}.`)
    return at
  })

/** `brokerage sim …`: commands for the sandbox (operator surface, Developers and QA). */
import { Argument, type Command, InvalidArgumentError, Option } from "commander"
import type { Cli } from "../Cli.ts"
import { cliFailure, exitStatus } from "../CliIo.ts"
import { parseDate, refuseSeconds } from "../moment.ts"
import type { OperatorClient, Success } from "../OperatorClient.ts"
import { durationOption } from "../options.ts"
import { span } from "../views/age.ts"
import { fields, stack, table, text, time, type View } from "../views/View.ts"

interface Advance {
  readonly to?: number
  readonly untilNext?: true
}

interface Shown {
  readonly now: number
  readonly next: ReadonlyArray<{ readonly name: string; readonly subject: string; readonly dueAt: number }>
  readonly more: number
}

interface BecameDue {
  readonly name: string
  readonly subject: string
  readonly dueAt: number
  readonly count: number
}

type Tally = ReadonlyArray<{ readonly name: string; readonly count: number }>

interface Moved extends Shown {
  readonly behind: boolean
  readonly fired: Tally
  readonly jobs: Tally
  readonly became: ReadonlyArray<BecameDue>
  readonly becameMore: number
}

export const addSimCommands = (program: Command, cli: Cli): Command => {
  const sim = program.command("sim").description("sandbox tools")
  const clock = sim.command("clock").description("the business clock")
  clock
    .command("show")
    .description("business time, its distance from real time, and the next due events")
    .action((_: object, command: Command) => cli.call(command, (api) => api.clock.show(), clockView))
  clock
    .command("advance")
    .description("move business time forward, never back; prints what became due, in order, and what is due next")
    .addArgument(new Argument("[duration]", "a duration: 500ms, 90s, 15m, 8h or 2d").argParser(durationOption))
    .addOption(
      new Option("--to <date>", "to a moment, UTC: 2027-04-07, 2027-04-07T06:30, or Unix ms").argParser(momentOption)
    )
    .option("--until-next", "to the next due event")
    .action((advanceMillis: number | undefined, options: Advance, command: Command) =>
      cli.attempt(command, async () => {
        const ways = [advanceMillis, options.to, options.untilNext].filter((way) => way !== undefined)
        if (ways.length !== 1) throw oneWay
        await cli.call(command, (api) => advance(api, advanceMillis, options), movedView)
      })
    )
  return sim
}

const oneWay = cliFailure(exitStatus.usage, 4000, "Give exactly one of a duration, --to and --until-next.")

const momentOption = (given: string): number => {
  const moment = parseDate(given)
  refuseSeconds(given)
  if (moment === null) {
    throw new InvalidArgumentError(
      "It must be a day such as 2027-04-07, with a time 2027-04-07T06:30 (UTC), or Unix ms."
    )
  }
  return moment
}

/** Advances the clock. For work that has become due since the list was made, it advances by one millisecond. */
const advance = async (
  api: OperatorClient,
  advanceMillis: number | undefined,
  { to }: Advance
): Promise<Success<Moved>> => {
  if (advanceMillis !== undefined) return api.clock.advance({ payload: { advanceMillis } })
  if (to !== undefined) return api.clock.advance({ payload: { to } })
  const { now, next } = (await api.clock.show()).data
  const first = next.find(({ dueAt }) => dueAt > now) ?? next[0]
  if (first === undefined) throw nothingDue
  return api.clock.advance({ payload: { advanceMillis: Math.max(1, first.dueAt - now) } })
}

const nothingDue = cliFailure(exitStatus.refused, 4092, "No event is due: the clock does not move.")

/** The service counts at most this many further timers; the view then adds that more may follow. */
const mostCounted = 1_000

const nextView = ({ now, next, more }: Shown): View =>
  stack(
    text(""),
    text("Due next"),
    table(
      next,
      {
        in: (row) => (row.dueAt > now ? span(row.dueAt - now) : `overdue ${span(now - row.dueAt)}`),
        at: (row) => time(row.dueAt),
        what: (row) => row.name,
        of: (row) => row.subject
      },
      "no due event"
    ),
    ...(more === 0 ? [] : [text(`and ${more < mostCounted ? "" : "at least "}${more} more`)])
  )

const clockView = (shown: Shown): View => {
  const { next: _, more: _more, ...clock } = shown
  return stack(fields(clock), nextView(shown))
}

/** The most rows of work that became due; `--json` has more. */
const mostRows = 40

const movedView = (moved: Moved): View => {
  const { next: _next, more: _more, fired: _fired, jobs: _jobs, became, becameMore, behind, ...clock } = moved
  const rows = became.slice(0, mostRows)
  const rest = became.length - rows.length + becameMore
  return stack(
    fields(clock),
    text(""),
    text("Became due"),
    table(
      rows,
      {
        at: (row) => time(row.dueAt),
        what: (row) => row.name,
        of: (row) => row.subject,
        times: (row) => (row.count === 1 ? "" : row.count)
      },
      "nothing"
    ),
    ...(rest === 0 ? [] : [text(`and ${rest} more`)]),
    ...(behind ? [text("The jump is not complete yet: the service completes it by itself.")] : []),
    nextView(moved)
  )
}

/**
 * `brokerage sim partner run`: a simulated partner that onboards clients, reports money with idempotent retries, checks every
 * answer, and finally compares its books with the service's. With --json it prints one document per line (operator surface,
 * Developers and QA).
 */
import { type Command, Option } from "commander"
import type { PartnerProgress, PartnerSummary } from "../../simulator/partner/runPartner.ts"
import type { Cli } from "../Cli.ts"
import { cliFailure, exitStatus, type Globals } from "../CliIo.ts"
import { findConnection, partnerKey } from "../connection.ts"
import { durationOption, required, whole } from "../options.ts"
import { addListenCommand } from "./simPartnerListen.ts"
import { plural } from "../../src/machines/shared/Text.ts"

interface RunFlags {
  readonly key: string
  readonly clients: number
  readonly rate: number
  readonly for: number
  readonly seed?: number
}

const mostClients = 100_000
const mostRate = 5_000

/** Adds `partner run` and `partner listen` under `sim`. */
export const addSimPartnerCommands = (sim: Command, cli: Cli): void => {
  const partner = sim.command("partner").description("a simulated partner firm")
  addListenCommand(partner, cli)
  partner
    .command("run")
    .description("onboard clients and report their collateral, with idempotent retries; exits 1 on any contradiction")
    .addOption(required("--key <key>", "partner key with scope TRADE"))
    .addOption(required("--clients <n>", "clients to onboard").argParser(whole(1, mostClients)))
    .addOption(required("--rate <n>", "requests a second").argParser(whole(1, mostRate)))
    .addOption(required("--for <duration>", "a duration: 500ms, 90s, 15m, 8h or 2d").argParser(durationOption))
    .addOption(new Option("--seed <n>", "repeats the choices of an earlier run").argParser(whole(0, 4_294_967_295)))
    .action((flags: RunFlags, command: Command) => cli.attempt(command, (globals) => run(cli, flags, globals)))
}

const run = async (cli: Cli, flags: RunFlags, globals: Globals): Promise<void> => {
  // Commands of a partner need only the partner key, so the operator key is left empty.
  const { url, ca } = findConnection({ ...globals, operatorKey: "" }, cli.io)
  const [{ Effect, Redacted }, { runPartner }, { makePartnerClient }] = await Promise.all([
    import("effect"),
    import("../../simulator/partner/runPartner.ts"),
    import("../../simulator/partner/PartnerClient.ts")
  ])
  const trust = ca === null ? {} : { ca }
  const key = Redacted.make(partnerKey(flags.key))
  const reachable = makePartnerClient({ origin: () => url, key, ...trust, connections: 1 }).pipe(
    Effect.flatMap((client) => Effect.isSuccess(client.send({ method: "GET", path: "/healthz" }))),
    Effect.scoped
  )
  if (!(await Effect.runPromise(reachable))) {
    throw cliFailure(exitStatus.unreachable, 5030, "The service does not answer at this address.")
  }
  const startedAt = Date.now()
  const json = globals.json === true
  const print = (document: object, text: () => string) => cli.io.stdout(`${json ? JSON.stringify(document) : text()}\n`)
  const summary = await Effect.runPromise(
    runPartner({
      url,
      key,
      ...trust,
      clients: flags.clients,
      rate: flags.rate,
      forMillis: flags.for,
      seed: flags.seed ?? startedAt % 4_294_967_296,
      tag: `sim${startedAt.toString(36)}`,
      onProgress: (progress) => print({ progress }, () => progressText(progress))
    })
  )
  print({ summary }, () => summaryText(summary))
  if (!summary.ok) cli.status = exitStatus.refused
}

const progressText = ({
  elapsedMillis,
  acknowledged,
  clients,
  reports,
  underWay,
  contradictions,
  tally
}: PartnerProgress): string =>
  [
    `${(elapsedMillis / 1_000).toFixed(0).padStart(5)} s`,
    `${acknowledged} acknowledged`,
    plural(clients, "client"),
    plural(reports, "report"),
    `${underWay} in flight`,
    `${tally.attempts - acknowledged - underWay} retries and duplicates`,
    plural(contradictions, "contradiction")
  ].join("  ")

const summaryText = (summary: PartnerSummary): string => {
  const { audit, tally } = summary
  const compared =
    audit === null
      ? "not compared"
      : `${audit.replays} replayed byte for byte, ${audit.lost.length} lost, ${audit.doubled.length} duplicated`
  return [
    "",
    `${plural(summary.acknowledged, "request")} acknowledged in ${(summary.elapsedMillis / 1_000).toFixed(1)} s: ${plural(summary.clients, "client")}, ${plural(summary.reports, "report")} (seed ${summary.seed})`,
    `comparison: ${compared}`,
    `retried: ${plural(tally.timeouts, "timeout")}, ${plural(tally.connectionFailures, "connection failure")}, ${plural(tally.unavailable, "time")} unavailable, ${plural(tally.rateLimited, "time")} rate limited, ${plural(tally.inProgress, "time")} still in progress`,
    ...summary.problems.map((problem) => `  ${problem}`),
    summary.ok ? "Service and partner agree." : "The service contradicts what it acknowledged, or did not answer."
  ].join("\n")
}

/**
 * `brokerage sim partner listen`: a webhook receiver that registers itself, verifies signatures, prints events, and
 * misbehaves on request. With --json it prints one document per line (operator surface, Developers and QA).
 */
import { type Command, InvalidArgumentError, Option } from "commander"
import type { Misbehaviour } from "../../simulator/partner/WebhookBehaviour.ts"
import type { ReceivedDelivery } from "../../simulator/partner/WebhookReceiver.ts"
import type { Cli } from "../Cli.ts"
import { cliFailure, CliFailure, type Envelope, exitStatus, type Globals } from "../CliIo.ts"
import { defaultDataDir, findConnection, partnerKey } from "../connection.ts"
import { durationOption, given, required, whole } from "../options.ts"
import { plural } from "../../src/machines/shared/Text.ts"

interface ListenFlags {
  readonly key: string
  readonly port?: number
  readonly fail?: number
  readonly status?: number
  readonly events?: ReadonlyArray<string>
  readonly share?: number
  readonly duplicate?: number
  readonly seed?: number
  readonly delay?: number
  readonly redirect?: boolean
  readonly silent?: boolean
  readonly for?: number
  readonly tlsCert?: string
  readonly tlsKey?: string
}

/** The receiver's counts of deliveries since its start. `events` counts each accepted event once. */
interface Seen {
  deliveries: number
  events: number
  duplicates: number
  refused: number
}

/** Adds `listen` under `sim partner`. */
export const addListenCommand = (partner: Command, cli: Cli): void => {
  partner
    .command("listen")
    .description("receive the partner's webhooks here: registers itself, verifies signatures, prints events")
    .addOption(required("--key <key>", "partner key with scope TRADE"))
    .addOption(new Option("--port <n>", "port on 127.0.0.1 (default: any free one)").argParser(whole(0, 65_535)))
    .addOption(new Option("--fail <n>", "the first n deliveries fail").argParser(whole(0, 1_000_000_000)))
    .addOption(new Option("--share <pct>", "this share of the deliveries fails").argParser(percentOption))
    .addOption(
      new Option(
        "--status <code>",
        "the status of failing deliveries (default 500); alone, every delivery fails"
      ).argParser(whole(200, 599))
    )
    .addOption(
      new Option(
        "--duplicate <pct>",
        "the answer to this share of the deliveries is lost once, so that they come twice"
      ).argParser(percentOption)
    )
    .addOption(new Option("--events <list>", "only these events fail, such as kyc.rejected").argParser(eventsOption))
    .addOption(new Option("--seed <n>", "the seed of the shares (default 1)").argParser(whole(0, 4_294_967_295)))
    .addOption(new Option("--delay <duration>", "the delay of each answer, at most a day").argParser(delayOption))
    .option("--redirect", "answer 302 to a private address")
    .option("--silent", "accept deliveries and never answer")
    .addOption(
      new Option("--for <duration>", "end after this duration: 500ms, 90s, 15m, 8h or 2d").argParser(durationOption)
    )
    .option("--tls-cert <file>", "certificate, PEM (default: one from the local authority in the data directory)")
    .option("--tls-key <file>", "key of the certificate, PEM")
    .addHelpText(
      "after",
      "\nThe service must run with --sandbox --demo or --allow-webhook-host 127.0.0.1. Registering replaces the partner's\n" +
        "endpoint and secret. At the end the demo's screen receives again if it did before; any other registration stays,\n" +
        "and undelivered events are retried."
    )
    .action((flags: ListenFlags, command: Command) => cli.attempt(command, (globals) => listen(cli, flags, globals)))
}

const percent = whole(1, 100)
const percentOption = (text: string): number => percent(text.replace(/%$/, "")) / 100

/** Parses the names of events, which commas separate. A text of another form is an invalid argument. */
const eventsOption = (text: string): ReadonlyArray<string> => {
  const names = text.split(",").map((name) => name.trim())
  if (names.every((name) => /^[a-z_]+\.[a-z_]+$/.test(name))) return names
  throw new InvalidArgumentError("It must be names of events such as kyc.rejected, separated by commas.")
}

const longestDelay = 24 * 60 * 60 * 1_000

/** Parses a delay of at most a day: timers allow no more than 24 days, and senders wait only for seconds. */
const delayOption = (text: string): number => {
  const millis = durationOption(text)
  if (millis > longestDelay) throw new InvalidArgumentError("It must be at most a day.")
  return millis
}

const listen = async (cli: Cli, flags: ListenFlags, globals: Globals): Promise<void> => {
  const { tlsCert, tlsKey } = flags
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw cliFailure(exitStatus.usage, 4000, "--tls-cert and --tls-key go together.")
  }
  const files = tlsCert === undefined || tlsKey === undefined ? null : { cert: tlsCert, key: tlsKey }
  // Only the partner key is needed, so the operator key is left empty.
  const { url, ca } = findConnection({ ...globals, operatorKey: "" }, cli.io)
  const [
    { Effect, Redacted },
    { makePartnerClient },
    { readEndpoint, registerUrl, registerWebhook },
    { startWebhookReceiver },
    { misbehave },
    { receiverTls },
    { demoPath },
    { deliveryDocument, deliveryLine }
  ] = await Promise.all([
    import("effect"),
    import("../../simulator/partner/PartnerClient.ts"),
    import("../../simulator/partner/registerWebhook.ts"),
    import("../../simulator/partner/WebhookReceiver.ts"),
    import("../../simulator/partner/WebhookBehaviour.ts"),
    import("../receiverTls.ts"),
    import("../demoReceiver.ts"),
    import("../views/deliveryLine.ts")
  ])
  const seen: Seen = { deliveries: 0, events: 0, duplicates: 0, refused: 0 }
  const print = (document: object, text: () => string) =>
    cli.io.stdout(`${globals.json === true ? JSON.stringify(document) : text()}\n`)
  const onDelivery = (delivery: ReceivedDelivery) => {
    count(seen, delivery)
    print(deliveryDocument(delivery), () => deliveryLine(delivery))
  }
  const stopped = Effect.promise(() => cli.io.stopped())
  const program = Effect.gen(function* () {
    const tls = yield* receiverTls(globals.dataDir ?? defaultDataDir, files)
    const receiver = yield* startWebhookReceiver({
      tls,
      port: flags.port ?? 0,
      behaviour: misbehave(misbehaviourOf(flags)),
      onDelivery
    })
    const key = Redacted.make(partnerKey(flags.key))
    const client = yield* makePartnerClient({ origin: () => url, key, connections: 1, ...(ca === null ? {} : { ca }) })
    const before = yield* readEndpoint(client)
    yield* registerWebhook(client, receiver)
    print({ ready: true, url: receiver.url }, () => `Webhooks arrive at ${receiver.url}. Ctrl-C ends.`)
    yield* flags.for === undefined ? stopped : Effect.timeoutOption(stopped, flags.for)
    if (before?.active !== true || new URL(before.url).pathname !== demoPath) return
    const giveBack = Effect.flatMap(readEndpoint(client), (now) =>
      now?.url === receiver.url ? Effect.as(registerUrl(client, before.url), before.url) : Effect.succeed(null)
    )
    const returned = yield* Effect.orElseSucceed(giveBack, () => null)
    print({ returned }, () =>
      returned === null
        ? "\nThe demo's screen does not receive again before its next start."
        : "\nThe demo's screen receives the webhooks again."
    )
  })
  const result = await Effect.runPromise(Effect.result(Effect.scoped(program)))
  if (result._tag === "Failure") throw failureOf(result.failure)
  print({ summary: seen }, () => summaryText(seen))
}

const misbehaviourOf = (flags: ListenFlags): Misbehaviour => {
  const { fail, status, events, share, duplicate, seed, delay, redirect, silent } = flags
  return {
    ...given({ fail, status, events, share, duplicate, seed }),
    ...(delay === undefined ? {} : { delayMillis: delay }),
    redirect: redirect === true,
    silent: silent === true
  }
}

/** Counts a delivery. `events` counts accepted events once each; rejected deliveries may not be genuine. */
const count = (seen: Seen, delivery: ReceivedDelivery): void => {
  seen.deliveries++
  if (delivery.problem !== null) seen.refused++
  else if (delivery.duplicate) seen.duplicates++
  else if (delivery.accepted) seen.events++
}

const summaryText = ({ deliveries, events, duplicates, refused }: Seen): string =>
  `\n${plural(deliveries, "delivery")}: ${plural(events, "event")} accepted, ${plural(duplicates, "duplicate")}, ${refused} refused.`

type ListenError =
  | { readonly _tag: "ReceiverNotStarted"; readonly sentence: string }
  | { readonly _tag: "RegistrationRefused"; readonly answer: unknown }
  | { readonly _tag: "Unreachable" }

const failureOf = (error: ListenError): CliFailure => {
  if (error._tag === "ReceiverNotStarted") return cliFailure(exitStatus.usage, 4000, error.sentence)
  if (error._tag === "RegistrationRefused" && isEnvelope(error.answer)) {
    return new CliFailure(exitStatus.refused, error.answer)
  }
  const sentence =
    error._tag === "Unreachable"
      ? "The service can not be reached. Is it running, and is its authority named with --ca?"
      : "The address answers, but not as the brokerage of this version. Check --url."
  return cliFailure(exitStatus.unreachable, 5030, sentence)
}

const isEnvelope = (answer: unknown): answer is Envelope =>
  typeof answer === "object" && answer !== null && "code" in answer && "msg" in answer && "error" in answer

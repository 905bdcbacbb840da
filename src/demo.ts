/**
 * `serve --demo`: makes a partner firm under PARTNER custody with a key and one client that may trade, once. The data directory keeps
 * its key (demo.json, and demo.curl as options of curl, both 0600) and a body to onboard with (demo-client.json).
 */
import { Effect, Schema } from "effect"
import { randomBytes } from "node:crypto"
import { sampleOnboarding } from "./machines/kyc/sampleOnboarding.ts"
import type { Verdict } from "./machines/shared/Refusal.ts"
import { toWire } from "./machines/shared/wireRefusal.ts"
import { type DataFiles, readIfThere } from "./runtime/adapters/dataDirectory.ts"
import { writeWhole } from "./runtime/adapters/writeWhole.ts"
import { questionnaire1 } from "./machines/appropriateness/questionnaire1.ts"
import { answersFor } from "./machines/appropriateness/scoring.ts"
import { sampleMifid } from "./machines/mifid/sampleMifid.ts"
import { ActorHost, type DispatchError, storeNothing } from "./runtime/engine/mailbox/ActorHost.ts"
import { Appropriateness } from "./runtime/services/clients/appropriateness/Appropriateness.ts"
import { clientSubject, usdcBalance } from "./runtime/services/account/clientState.ts"
import { CollateralReports } from "./runtime/services/money/collateral/CollateralReports.ts"
import { BusinessClock } from "./runtime/engine/clock/BusinessClock.ts"
import { partnerAttribution } from "./runtime/services/partners/Caller.ts"
import { Directory } from "./runtime/services/partners/Directory.ts"
import { Onboarding } from "./runtime/services/clients/client/Onboarding.ts"
import { ServeError } from "./ServeError.ts"
import type { OperatorCaller } from "./runtime/services/shared/OperatorCaller.ts"
import { Partners } from "./runtime/services/lifecycle/Partners.ts"

const DemoFile = Schema.fromJsonString(
  Schema.Struct({ partnerId: Schema.Int, code: Schema.String, key: Schema.String, clientId: Schema.Int })
)
export type Demo = typeof DemoFile.Type & {
  readonly clientFile: string
  /** Distinguishes the requests of this start from those of earlier ones. */
  readonly tag: string
  /** The client as it is after the start; null if it does not exist. */
  readonly client: {
    readonly name: string
    readonly state: string
    readonly level: string
    /** USDC, micro units. */
    readonly cash: bigint
  } | null
}

const caller: OperatorCaller = {
  keyId: 0,
  role: "ADMIN",
  by: { role: "SYSTEM", keyLabel: "demo", requestId: "demo", actor: "system:demo" }
}

/** The service refused a step of the demo; `why` is a whole sentence. */
class DemoRefused extends Schema.TaggedError<DemoRefused>()("DemoRefused", {
  step: Schema.String,
  why: Schema.String
}) {
  override get message(): string {
    return `The demo can not ${this.step}: ${this.why} Start without --demo and run brokerage sim reset, or name another --data-dir.`
  }
}

const granted = <A, R>(
  step: string,
  effect: Effect.Effect<Verdict<A>, DispatchError, R>
): Effect.Effect<A, DispatchError | DemoRefused, R> =>
  effect.pipe(
    Effect.catchTag(
      "CallerBarred",
      ({ state }) => new DemoRefused({ step, why: `The partner or its key is ${state}.` })
    ),
    Effect.flatMap((verdict) =>
      verdict.ok
        ? Effect.succeed(verdict.value)
        : Effect.fail(new DemoRefused({ step, why: toWire(verdict.refusal).msg }))
    )
  )

/**
 * The demo of this data directory, read back or made at the first start. A new client body and the options of curl are written
 * at every start. `caFile`: the authority of the service's certificate; null when the system must trust the certificate.
 */
export const prepareDemo = (files: DataFiles, caFile: string | null) =>
  Effect.gen(function* () {
    const clock = yield* BusinessClock
    const tag = randomBytes(4).toString("hex")
    writeWhole(files.demoClient, `${JSON.stringify(sampleOnboarding(2, tag, clock.now()), null, 2)}\n`)
    const kept = yield* keptDemo(files)
    const demo = kept ?? (yield* makeDemo(files, tag))
    yield* equip(demo, tag)
    writeWhole(files.demoCurl, curlOptions(demo.key, caFile))
    const client = yield* (yield* ActorHost).read(clientSubject(demo.clientId), (state) => {
      const row = state.one("clients")
      if (row === undefined) return null
      return {
        name: row.displayName,
        state: row.state,
        level: row.level,
        cash: usdcBalance(state)?.cash ?? 0n
      }
    })
    return { ...demo, clientFile: files.demoClient, tag, client } satisfies Demo
  })

/** The demo of demo.json; null without the file, and when another database made it: this one then gets a demo of its own. */
const keptDemo = (files: DataFiles) =>
  Effect.gen(function* () {
    const directory = yield* Directory
    const text = yield* Effect.try({ try: () => readIfThere(files.demo), catch: () => unreadable(files) })
    if (text === null) return null
    const kept = yield* Effect.mapError(Schema.decodeUnknownEffect(DemoFile)(text), () => unreadable(files))
    return directory.findPartner(kept.code) === null ? null : kept
  })

const unreadable = ({ demo }: DataFiles) =>
  new ServeError({
    sentence: `${demo} can not be read as the demo's file: remove it, and the next start makes a new key.`
  })

/** The options of `curl -K`, so that no command line holds the key. */
const curlOptions = (key: string, caFile: string | null): string =>
  [
    ...(caFile === null ? [] : [`cacert = ${curlText(caFile)}`]),
    `header = ${curlText(`Authorization: Bearer ${key}`)}`,
    "silent",
    "show-error",
    String.raw`write-out = "\n"`,
    ""
  ].join("\n")

const curlText = (text: string): string => `"${text.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`

const makeDemo = (files: DataFiles, tag: string) =>
  Effect.gen(function* () {
    const partners = yield* Partners
    const directory = yield* Directory
    const clock = yield* BusinessClock
    const code = "DEMO"
    if (directory.findPartner(code) === null) {
      yield* granted(
        "create the partner",
        partners.create(caller, {
          code,
          name: "Demo Partner",
          legalName: "Demo Partner AG",
          country: "DE",
          licence: "MICA_CASP",
          custody: "PARTNER",
          collateralAsset: "EURD",
          uidPrefix: "DEMO",
          sandbox: true
        })
      )
    }
    if (directory.findPartner(code)?.reliance !== "APPROVED") {
      yield* granted("approve reliance", partners.reliance(caller, code, "APPROVED", "demo"))
    }
    const issued = yield* granted("issue a key", partners.issueKey(caller, code, { label: "demo", scope: "TRADE" }))
    const partner = directory.findPartner(code)
    const key = directory.key(issued.keyId)
    if (partner === null || key === null)
      return yield* Effect.die(new Error("the demo partner is not in the directory"))
    const client = yield* granted(
      "onboard a client",
      (yield* Onboarding).onboard(
        { partner, key, by: partnerAttribution(partner, key, "demo") },
        sampleOnboarding(1, tag, clock.now()),
        storeNothing
      )
    )
    const demo = { partnerId: partner.row.id, code, key: issued.key, clientId: client.clientId }
    writeWhole(files.demo, `${JSON.stringify(demo)}\n`)
    return demo
  })

/**
 * Cash below which the demo client deposits, and the amount of a deposit: enough for a hundred contracts of 0.01 BTC.
 */
const leastCash = 500_000_000n
const brought = "1000.00"

/**
 * Brings the client to level MICA_MIFID and funds it, at each start: it may have lost money, or an older version may have made
 * it.
 */
const equip = ({ code, clientId }: typeof DemoFile.Type, tag: string) =>
  Effect.gen(function* () {
    const directory = yield* Directory
    const partner = directory.findPartner(code)
    const key = partner === null ? undefined : directory.keys(partner.row.id).find(({ state }) => state === "ACTIVE")
    if (partner === null || key === undefined) return
    const by = { partner, key, by: partnerAttribution(partner, key, "demo") }
    const held = yield* (yield* ActorHost).read(clientSubject(clientId), (state) => ({
      client: state.one("clients"),
      cash: usdcBalance(state)?.cash ?? 0n
    }))
    // A client that was closed or blocked stays as it is.
    if (held.client?.state !== "ACTIVE") return
    if (held.client.level !== "MICA_MIFID") {
      const appropriateness = yield* Appropriateness
      const answers = { version: 1, answers: answersFor(questionnaire1, "PASS") }
      yield* unlessRefused(
        Effect.andThen(
          granted("assess the client", appropriateness.submit(by, clientId, answers, storeNothing)),
          granted("bring MiFID blocks", appropriateness.writeMifid(by, clientId, sampleMifid(), storeNothing))
        )
      )
    }
    if (held.cash >= leastCash) return
    const report = { partnerRef: `demo-${tag}`, direction: "DEPOSIT", amount: brought }
    const reports = yield* CollateralReports
    yield* unlessRefused(granted("report collateral", reports.report(by, clientId, report, storeNothing)))
  })

/** A client or partner in a state that refuses the step must not stop the start: the operator needs the service to change it. */
const unlessRefused = <A, R>(step: Effect.Effect<A, DispatchError | DemoRefused, R>) =>
  Effect.catchTag(step, "DemoRefused", ({ step, why }) =>
    Effect.logWarning("the demo client stays as it is, because a step is refused", { step, why })
  )

/**
 * `serve --demo`: makes a partner firm under PARTNER custody with a key and one client that may trade, once, and prints command
 * lines that work each time they are pasted. The data directory keeps the facts that the lines need (demo.json 0600,
 * demo-client.json).
 */
import { Effect, Schema } from "effect"
import { randomBytes } from "node:crypto"
import { sampleOnboarding } from "./machines/kyc/sampleOnboarding.ts"
import type { Verdict } from "./machines/shared/Refusal.ts"
import { type DataFiles, readIfThere, type ServiceFile } from "./runtime/adapters/dataDirectory.ts"
import { writeWhole } from "./runtime/adapters/writeWhole.ts"
import { questionnaire1 } from "./machines/appropriateness/questionnaire1.ts"
import { answersFor } from "./machines/appropriateness/scoring.ts"
import { sampleMifid } from "./machines/mifid/sampleMifid.ts"
import { ActorHost, storeNothing } from "./runtime/engine/mailbox/ActorHost.ts"
import { Appropriateness } from "./runtime/services/clients/appropriateness/Appropriateness.ts"
import { clientSubject, usdcBalance } from "./runtime/services/account/clientState.ts"
import { CollateralReports } from "./runtime/services/money/collateral/CollateralReports.ts"
import { BusinessClock } from "./runtime/engine/clock/BusinessClock.ts"
import { partnerAttribution } from "./runtime/services/partners/Caller.ts"
import { Directory } from "./runtime/services/partners/Directory.ts"
import { Onboarding } from "./runtime/services/clients/client/Onboarding.ts"
import type { OperatorCaller } from "./runtime/services/shared/OperatorCaller.ts"
import { Partners } from "./runtime/services/lifecycle/Partners.ts"

const DemoFile = Schema.fromJsonString(
  Schema.Struct({ partnerId: Schema.Int, code: Schema.String, key: Schema.String, clientId: Schema.Int })
)
export type Demo = typeof DemoFile.Type & { readonly clientFile: string; readonly tag: string }

const caller: OperatorCaller = {
  keyId: 0,
  role: "ADMIN",
  by: { role: "SYSTEM", keyLabel: "demo", requestId: "demo", actor: "system:demo" }
}

class DemoRefused extends Schema.TaggedError<DemoRefused>()("DemoRefused", {
  step: Schema.String,
  why: Schema.String
}) {}

const granted = <A, E, R>(
  step: string,
  effect: Effect.Effect<Verdict<A>, E, R>
): Effect.Effect<A, E | DemoRefused, R> =>
  Effect.flatMap(effect, (verdict) =>
    verdict.ok
      ? Effect.succeed(verdict.value)
      : Effect.fail(new DemoRefused({ step, why: JSON.stringify(verdict.refusal) }))
  )

/** The demo of this data directory, read back or made at the first start. A new client body is written at every start. */
export const prepareDemo = (files: DataFiles) =>
  Effect.gen(function* () {
    const clock = yield* BusinessClock
    const tag = randomBytes(4).toString("hex")
    writeWhole(files.demoClient, `${JSON.stringify(sampleOnboarding(2, tag, clock.now()), null, 2)}\n`)
    const kept = readIfThere(files.demo)
    const demo = kept === null ? yield* makeDemo(files, tag) : yield* Schema.decodeUnknownEffect(DemoFile)(kept)
    yield* equip(demo, tag)
    return { ...demo, clientFile: files.demoClient, tag } satisfies Demo
  })

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
 * Cash below which the demo client deposits, and the amount of a deposit: enough for a hundred contracts like the printed one.
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
      yield* granted("assess the client", appropriateness.submit(by, clientId, answers, storeNothing))
      yield* granted("bring MiFID blocks", appropriateness.writeMifid(by, clientId, sampleMifid(), storeNothing))
    }
    if (held.cash >= leastCash) return
    const report = { partnerRef: `demo-${tag}`, direction: "DEPOSIT", amount: brought }
    yield* granted("report collateral", (yield* CollateralReports).report(by, clientId, report, storeNothing))
  })

/** The default data directory. */
const usualDataDir = ".brokerage"

/** The printed request for a contract, which is accepted automatically at a dealer's first quote. */
const contract = '{"symbol":"BTC-USDC-KO","side":"BUY","qty":"0.01","barrier":{"level":"59000"}}'

/**
 * The printed orders buy at the market and offer the same quantity above it, so that repeated pastes need no additional margin.
 */
const bought = '{"symbol":"BTC-USDC-PERP","side":"BUY","type":"MARKET","qty":"0.001"}'
const offered = '{"symbol":"BTC-USDC-PERP","side":"SELL","type":"LIMIT","qty":"0.001","price":"60500"}'

/** The printed take, which lends USDC to the offer with the shortest tenor. */
const lent = '{"qty":"100"}'

/**
 * The printed request for a statement, from a month ago to a time past every possible clock jump. A future end counts as the
 * moment of the request.
 */
const stated = `{"kind":"ACCOUNT","from":'$((($(date +%s)-2592000)*1000))',"to":'$((($(date +%s)+25920000)*1000))'}`

/** The printed order that ends in a close-out: at a price of 40000 its loss is twice the deposit. */
const carried = '{"symbol":"BTC-USDC-PERP","side":"BUY","type":"MARKET","qty":"0.15"}'

/** The text for a newcomer: the key, and lines to paste. The commands name `dataDir` unless it is the default. */
export const demoText = (demo: Demo, service: ServiceFile, dataDir: string): string => {
  const command = (line: string) =>
    `  npx --no-install brokerage ${line}${dataDir === usualDataDir ? "" : ` --data-dir '${dataDir}'`}`
  const curl = `curl -sS --cacert '${service.caFile ?? ""}' -H 'Authorization: Bearer ${demo.key}'`
  const client = `${service.url}/partner/v1/clients`
  return [
    `Demo partner ${demo.code}, key ${demo.key}`,
    "",
    "Onboard a client:",
    `  ${curl} -H 'Idempotency-Key: onboard-${demo.tag}' --data @'${demo.clientFile}' ${client}`,
    "",
    `Report collateral for the demo client ${demo.clientId}:`,
    `  ${curl} -H 'Idempotency-Key: deposit-${demo.tag}' --data '{"partnerRef":"deposit-${demo.tag}","direction":"DEPOSIT","amount":"250.00"}' ${client}/${demo.clientId}/collateral`,
    "",
    "Read its ledger:",
    `  ${curl} ${client}/${demo.clientId}/ledger`,
    "",
    "Read a market; move it, and read it again:",
    `  ${curl} '${service.url}/partner/v1/ticker?symbol=BTC-USDC-PERP'`,
    command("sim venue price BTC-USDC-PERP 60000"),
    "",
    "Buy at the market; offer it above, and show position and margin; send the",
    "price there, and read what was traded:",
    command("sim venue price BTC-USDC-PERP 60000"),
    `  ${curl} -H "Idempotency-Key: market-$(date +%s)" --data '${bought}' ${client}/${demo.clientId}/orders`,
    `  ${curl} -H "Idempotency-Key: limit-$(date +%s)" --data '${offered}' ${client}/${demo.clientId}/orders`,
    `  ${curl} ${client}/${demo.clientId}/positions`,
    `  ${curl} ${client}/${demo.clientId}/margin`,
    command("sim venue price BTC-USDC-PERP 60600"),
    `  ${curl} '${client}/${demo.clientId}/trades?limit=2'`,
    "",
    "Hold a price; open a contract, knocked out below 59000; send the price there",
    "(webhooks say what became of it):",
    command("sim venue price BTC-USDC-KO 60000"),
    `  ${curl} -H "Idempotency-Key: contract-$(date +%s)" --data '${contract}' ${client}/${demo.clientId}/rfq`,
    command("sim venue price BTC-USDC-KO 58900"),
    `  ${curl} '${client}/${demo.clientId}/barriers?state=history&limit=1'`,
    "",
    "Bring 100 USDC and lend it to a writer of the staking board for a day; let the",
    "day pass, and read what came back (webhook: swap.settled):",
    `  OFFER=$(${curl} '${service.url}/partner/v1/staking/offers?symbol=USDC-SWAP' | grep -o '"offerId":[0-9]*' | head -1 | cut -d: -f2)`,
    `  ${curl} -H "Idempotency-Key: lent-$(date +%s)" --data '{"partnerRef":"lent-'$(date +%s)'","direction":"DEPOSIT","amount":"100.00"}' ${client}/${demo.clientId}/collateral`,
    `  ${curl} -H "Idempotency-Key: lend-$(date +%s)" --data '${lent}' ${client}/${demo.clientId}/staking/$OFFER/accept`,
    command("sim clock advance 1d"),
    `  ${curl} '${client}/${demo.clientId}/staking/swaps?state=history&limit=1'`,
    `  ${curl} ${client}/${demo.clientId}/balances`,
    "",
    "Make a statement of its account (webhook: statement.ready), and save it as PDF",
    "and CSV:",
    `  STATEMENT=$(${curl} -H "Idempotency-Key: statement-$(date +%s)" --data '${stated}' ${client}/${demo.clientId}/statements | grep -o '"statementId":[0-9]*' | head -1 | cut -d: -f2)`,
    `  ${curl} -o statement.pdf ${client}/${demo.clientId}/statements/$STATEMENT/pdf`,
    `  ${curl} -o statement.csv ${client}/${demo.clientId}/statements/$STATEMENT/csv`,
    "",
    "Bring money and carry a position with it; let the price fall under it, and",
    "read how it was closed out and what was written off (webhooks:",
    "margin.restriction_set, settlement.item_created, margin.restriction_lifted):",
    command("sim venue price BTC-USDC-PERP 60000"),
    `  ${curl} -H "Idempotency-Key: bring-$(date +%s)" --data '{"partnerRef":"bring-'$(date +%s)'","direction":"DEPOSIT","amount":"${brought}"}' ${client}/${demo.clientId}/collateral`,
    `  ${curl} -H "Idempotency-Key: carry-$(date +%s)" --data '${carried}' ${client}/${demo.clientId}/orders`,
    command("sim venue price BTC-USDC-PERP 40000"),
    command(`closeout list --client ${demo.clientId} --limit 1`),
    `  ${curl} '${client}/${demo.clientId}/ledger?limit=3'`,
    "",
    "Play scenarios against this service (sim list shows all of them):",
    command("sim run custody")
  ].join("\n")
}

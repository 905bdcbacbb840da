/** The findings as Markdown: printed at the end of a run, and written to docs/benchmarks.md with --write. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { commandsSection } from "./commands/section.ts"
import { contractsSection } from "./contracts/section.ts"
import { fairnessSection } from "./fairness/section.ts"
import type { Findings, Reports } from "./Findings.ts"
import { judgeGoals } from "./goals.ts"
import { marginSection } from "./margin/section.ts"
import { disturbed, millis, rowsTable, spread, table, whole } from "./markdown.ts"
import { marketsSection } from "./markets/section.ts"
import { moneySection } from "./money/section.ts"
import { onboardingSection } from "./onboarding/section.ts"
import { ordersSection } from "./orders/section.ts"
import { screeningSection } from "./screening/section.ts"
import { statementsSection } from "./statements/section.ts"
import { stakingSection } from "./staking/section.ts"
import type { WebhookFindings } from "./webhooks/webhookRounds.ts"

const crashHeading = "## Crash runs"

const reportsSection = ({ connections, rows, batches }: Reports): string =>
  `### ${connections} connections\n\n${rowsTable(rows)}\n\nBatches of the service's last slice: ${whole(batches.transactions)} transactions, reports in one: median ${batches.median}, p99 ${batches.p99}, largest ${batches.max}.`

const sharesSection = ({ shares }: Findings): string => {
  const { profile, requests, databaseMicros } = shares
  const perRequest = (value: number) => value / Math.max(1, requests)
  const total = perRequest(profile.busyMicros) + databaseMicros
  const line = (name: string, each: number) => [name, each.toFixed(1), `${((100 * each) / total).toFixed(0)} %`]
  return table(
    ["part", "us per request", "share"],
    [
      ...profile.parts
        .filter(({ micros }) => perRequest(micros) >= 0.1)
        .map(({ name, micros }) => line(name, perRequest(micros))),
      line("database (processor time of PostgreSQL)", databaseMicros),
      line("all", total)
    ]
  )
}

const figuresTable = (findings: Findings): string => {
  const { house, transition, laterReady } = findings
  return table(
    ["figure", "value"],
    [
      [
        "first start (new data directory, initdb, migrations, certificates), to ready",
        `${whole(findings.firstReadyMillis)} ms`
      ],
      ["later starts, to ready", `${spread(laterReady, whole)} ms`],
      [`start with ${whole(house.clients)} clients stored, to ready`, `${whole(house.readyMillis)} ms`],
      ["memory (RSS) after the first start", `${whole(findings.freshMegabytes)} MB`],
      ["memory after the load", `${whole(findings.loadedMegabytes)} MB`],
      [`memory with ${whole(house.clients)} clients stored, after the start`, `${whole(house.idleMegabytes)} MB`],
      [`memory after reading ${whole(house.readClients)} of them`, `${whole(house.readMegabytes)} MB`],
      ["onboardings over HTTP, 32 at a time", `${whole(findings.onboardingRate)} per second`],
      ["one transition (entry, step and effects of a report)", `${transition.engineMicros.toFixed(1)} us`],
      ["the same by XState's transition()", `${transition.documentedMicros.toFixed(1)} us`]
    ]
  )
}

const webhookSection = ({ drain, latency, writes }: WebhookFindings): string => {
  const ratio = (own: number, other: number) => `${(own / Math.max(1e-9, other)).toFixed(1)} x`
  const { service, peer } = latency
  return `${table(
    ["figure", "service", "graphile-worker", "service is"],
    [
      [
        "deliveries a second while a backlog drains, one healthy receiver",
        spread(drain.service, whole),
        spread(drain.peer, whole),
        ratio(drain.service.median, drain.peer.median)
      ],
      ...(["p50Millis", "p99Millis", "maxMillis"] as const).map((name) => [
        `commit to arrival, ${name.replace("Millis", "")}, ms`,
        millis(service[name]),
        millis(peer[name]),
        ""
      ]),
      ["not arrived after a minute", whole(service.missing), whole(peer.missing), ""]
    ]
  )}\n\nCommit to arrival: ${latency.perSecond} events a second to a healthy receiver, while a hanging and a dead receiver have ${latency.stuck} waiting events each. graphile-worker (as many posts at once as the service makes: 4 to one receiver, 12 with three; local queue, batched completion) posts the same size of body to the same receivers from the same PostgreSQL server.\n\nMoney writes at 64 connections: ${spread(writes.quiet, whole)} a second with no endpoint, ${spread(writes.delivering, whole)} a second while each of them makes a delivery that is sent meanwhile.`
}

const goalsTable = (findings: Findings): string =>
  table(
    ["goal at 64 connections", "found", ""],
    judgeGoals(findings).map(({ sentence, figure, reached }) => [sentence, figure, reached ? "reached" : "MISSED"])
  )

/** The report's sections below the title. */
export const renderFindings = (findings: Findings): string => {
  const { environment, quick } = findings
  const settings = environment.settings.map(([name, value]) => `${name} ${value}`).join(", ")
  return `## Result

${goalsTable(findings)}

Machine: ${environment.cores} cores, ${environment.processor}, ${environment.memoryGigabytes} GB; Node ${environment.node}; PostgreSQL ${environment.postgres} (${settings}). Other programs kept ${spread(findings.otherCores, (value) => value.toFixed(2))} cores busy during the slices.${disturbed(findings.otherCores)}

${quick ? "A quick run: short slices, one round; only the full run counts." : `Slices of ${findings.sliceMillis / 1_000} s, ${findings.rounds} rounds after a warm-up; median (lowest-highest).`} ${whole(findings.acknowledged)} reports were acknowledged by the service; every one was found booked, and the books balanced after every slice.

## Durable writes: POST /clients/{id}/collateral

${findings.reports.map(reportsSection).join("\n\n")}

## Reads: GET /clients/{id}, ${findings.reads.connections} connections

${rowsTable(findings.reads.rows)}

## Where a report's time goes

Processor time at 64 connections, from a CPU profile of the service (a run of its own: profiling costs) and the processor time of all PostgreSQL processes.

${sharesSection(findings)}

## Webhooks

${webhookSection(findings.webhooks)}

## Onboarding: POST /clients, PUT .../kyc

${onboardingSection(findings.onboarding)}

## Screening

${screeningSection(findings.screening)}

## Money

${moneySection(findings.money)}

## Markets

${marketsSection(findings.markets)}

## Start, memory, transitions

${figuresTable(findings)}
`
}

/** The sections of the parts that were measured alone. */
export const renderParts = (findings: Partial<Findings>): string => {
  const {
    webhooks,
    onboarding,
    screening,
    money,
    markets,
    contracts,
    orders,
    margin,
    staking,
    statements,
    fairness,
    cli
  } = findings
  return [
    ...(webhooks === undefined ? [] : [`## Webhooks\n\n${webhookSection(webhooks)}`]),
    ...(onboarding === undefined
      ? []
      : [`## Onboarding: POST /clients, PUT .../kyc\n\n${onboardingSection(onboarding)}`]),
    ...(screening === undefined ? [] : [`## Screening\n\n${screeningSection(screening)}`]),
    ...(money === undefined ? [] : [`## Money\n\n${moneySection(money)}`]),
    ...(markets === undefined ? [] : [`## Markets\n\n${marketsSection(markets)}`]),
    ...(contracts === undefined ? [] : [`## Contracts\n\n${contractsSection(contracts)}`]),
    ...(orders === undefined ? [] : [`## Orders\n\n${ordersSection(orders)}`]),
    ...(margin === undefined ? [] : [`## Margin\n\n${marginSection(margin)}`]),
    ...(staking === undefined ? [] : [`## Staking and account reads\n\n${stakingSection(staking)}`]),
    ...(statements === undefined ? [] : [`## Statements\n\n${statementsSection(statements)}`]),
    ...(fairness === undefined ? [] : [`## Fairness\n\n${fairnessSection(fairness)}`]),
    ...(cli === undefined ? [] : [`## Commands\n\n${commandsSection(cli)}`])
  ].join("\n\n")
}

const preface = `# Benchmarks

\`npm run bench\` measures the service beside reference programs in one run and prints this page; \`npm run bench -- --write\` writes it here, \`-- --quick\` takes three minutes, \`-- --only onboarding\` (or screening, webhooks, money, markets, contracts, orders, margin, staking, statements, fairness, cli) measures one part. Ratios matter, absolute figures belong to the machine.

## How it is measured

- One machine, one embedded PostgreSQL with its durable settings, a database for each system; slices of the systems take turns (service, a, b, c, service, ...), so that all of them see the machine's good and bad moments.
- The load comes from a process of its own over HTTPS with keep-alive and TLS sessions resumed: a closed loop, every request with a fresh reference and a fresh key, over 1,000 clients of one partner. Its processor time is printed. Any answer that is not a success fails the run.
- A request counts when it was answered inside the slice; what is answered is durable (\`synchronous_commit\` and \`fsync\` on). After every slice the books are checked (the service: \`ledger verify\` over a second connection) and the number of booked reports must be exactly the number acknowledged.
- (a) *typical*: Fastify and pg, a pool of 10: BEGIN, key look-up, SELECT ... FOR UPDATE, inserts one by one, house balance, stored answer, COMMIT. (b) *tuned*: the same with prepared statements, the house balance last, a pool of 6.
- All of them make the same rows durable: commit token, claim, report, ledger transaction, two postings, client balance, event, audit row, stored answer; the references also keep the house balance as a row, the service totals by day and one seal a batch. Where the designs differ the references are spared: their ids come from memory, their event numbers may have gaps, their chain covers the audit alone and is per client, no trigger checks their sums, their stored answer is not encrypted, rate limits and gates beyond the key, the body and the client's state are left out.
- *program us*, *database us*, *generator us*: processor time per request of the program, of all PostgreSQL processes and of the load generator.
- Onboarding and revisions: a slice counts only when exactly the answered clients are stored, each once, with one row of each kind, and as many revisions of each client as were answered, numbered without a gap. The reference makes the same rows durable (BEGIN, key look-up, uniqueness look-up, one insert per table, stored answer, COMMIT; a pool of 10, Fastify's JSON schemas) and is spared screening, encryption of personal data, races for the same person and the audit chain over all rows.
- Screening: invented people from a seeded generator (nine ways of naming, five scripts, common and rare names, aliases, missing birth dates); one client in ten is a listed person misspelt. The plain scan scores every entry with the same functions over names prepared beforehand, and its answers have to be the index's.
- Money: deposits and withdrawals as pairs of a request and its decision over clients of a BROKER-custody partner, reports of 500 settlement items over those of a PARTNER-custody one. Plain SQL makes the same rows durable without HTTP, with prepared statements and whole sets; it is spared gates but the cash, the audit chain, encryption and the triggers over sums.
- Orders: LIMIT orders far from the book, placed for a window and then all cancelled, by clients of a PARTNER-custody partner; each side calls the same venue process, which stores its books before it answers: the service over its session of calls, the references by a request of HTTP each. The references make order with what it holds, call, audit row and stored answer durable in a commit before the call and one after it; *tuned* prepares its statements and writes all rows of a commit by one. They are spared gates but cash, number and state, encryption, seals and the venue's events. Trades: plain SQL books each by the same rows (trade, order, position, ledger transactions with postings, balance, totals, notification, with PARTNER custody item, event and audit row), by one statement a trade at 4 to 16 connections; it knows them beforehand and hears no venue. Margin and previews: prices stand still meanwhile, so the service computes an account once. After each slice \`ledger verify\` and \`sim verify\` hold, and exactly what was answered is stored. *table bytes*, *log bytes*: what the database's tables with their indexes and the write-ahead log grew by, per request or trade.
- Account reads: the marks move while accounts are read. SQL statements put the accounts with their trades into the database.
- Takes: one offer of USDC at a venue process that all systems share, by clients of a PARTNER-custody partner. Each take is one commit (gates, swap, reserve with its two postings, balance, call, audit row), the venue's call, and another commit (swap, principal with its postings, balance, settlement item with its event, audit rows, totals, timer, stored answer): the service over its session of calls, the references by a request of HTTP each; *tuned* prepares its statements and writes all rows of a commit by one. They are spared gates but state, level, cash and size, sums by day, encryption, seals and the venue's events. After each slice exactly what was answered is open, paid for once and known at the venue.
- Maturities: swaps taken over HTTP, one of each client; their maturities in the venue's agenda are moved to one instant after the next start, when nobody's account is in memory. Plain SQL ends each swap by the same rows in a transaction of its own, by one statement at 8 or 16 connections, whichever is faster here; it knows the payments beforehand, hears no venue and sends no webhook.
- Statements: clients with very many trades, each with the posting of its commission. SQL statements put them into the database. A model is stored, and files are made of the stored model. A night: the service's own job, once its clock has been moved past the night; beside it a loop over clients by plain SQL, 4 to 16 at a time, with the same rows (model, piece, statement, notification, event, audit row), spared cuts, seals, encryption and where it stood if it were killed; the service answers the same callers beside both.
- References that have done their work are gone since 2026-11-29. Their last figures: plain SQL row by row ended 255 swaps a second (the service 7.6 times as many); plain SQL booked 1,280 reports a second (the service 5.2 times as many); Fastify + pg answered 3,470 to 3,673 previews and margin reads a second (1.6 and 4.0 times), and balances and overviews over 1,000 trades at a quarter and an eighth of the service's rate; one statement of SQL took 160,321 times the index's processor time for a mark, a scan of the holders of one market 565 times; plain set-based SQL wrote the rows of a mass end at 1.2 times the service's rate; Fastify + pg made a model, CSV and PDF of 100,000 postings at 0.77, 0.71 and 0.37 times the service's rate.

`

/** Replaces the benchmark part of the file. The text from the heading of the crash runs on stays. */
export const writeReport = (file: string, findings: Findings): void => {
  const before = existsSync(file) ? readFileSync(file, "utf8") : ""
  const at = before.indexOf(crashHeading)
  const crash = at < 0 ? `${crashHeading}\n` : before.slice(at)
  writeFileSync(file, `${preface}${renderFindings(findings)}\n${crash}`)
}

/** Rows and commits for the engine's tests: one sample row per table of the catalogue, and small builders. */
import { versionOf } from "../../../src/runtime/engine/machine/step.ts"
import { catalogue, type CommitRows, type TableName, type Tables } from "../../../src/runtime/tables/Catalogue.ts"
import { randomBytes } from "node:crypto"
import type { Claim, Commit, Fence, PartnerStamp } from "../../../src/runtime/engine/journal/Commit.ts"
import type { Journal, Outcome } from "../../../src/runtime/engine/journal/Journal.ts"
import { makeSealing } from "../../../src/runtime/engine/sealing/Sealing.ts"
import type { AuditRow } from "../../../src/runtime/tables/engine.ts"
import { statementRows } from "./statementFixtures.ts"
import { machine, noon, tradingRows } from "./tradingFixtures.ts"
import type { EventRow } from "../../../src/runtime/tables/webhook.ts"

type JournalShape = Journal["Service"]

export { noon }

export const testSealing = makeSealing({ current: 1, keys: new Map([[1, randomBytes(32)]]) })

const shard = 3

type SampleRows = { readonly [T in TableName]: Tables[T] }

/** One row of every table for client `id` of partner 1, with filled nullable columns and present versions of machines. */
export const sampleRows = (id: number): SampleRows =>
  Object.fromEntries(
    Object.entries(rowsFor(id)).map(([table, row]) => {
      const kind = catalogue[table as TableName].machine
      return [table, kind === null ? row : { ...row, version: versionOf(kind) }]
    })
  ) as unknown as SampleRows

const rowsFor = (id: number): { readonly [T in TableName]: object } => ({
  ...tradingRows(id),
  partners: {
    id,
    ...machine,
    code: `CODE${id}`,
    name: "Alpha",
    legalName: "Alpha Ltd",
    country: "DE",
    licence: "MICA_CASP",
    sandbox: true,
    custodyModel: "PARTNER",
    collateralAsset: "EURX",
    uidPrefix: `P${id}`,
    readPerMinute: 600,
    tradePerMinute: 60,
    allowedCidrs: ["10.0.0.0/8", "::1/128"],
    epoch: 0,
    createdAt: noon
  },
  reliances: { partnerId: id, ...machine },
  apiKeys: {
    id,
    partnerId: 1,
    ...machine,
    hash: `hash-${id}`,
    prefix: "pbk_abc",
    label: "main",
    scope: "TRADE",
    createdAt: noon
  },
  operatorKeys: {
    id,
    ...machine,
    hash: `hash-${id}`,
    prefix: "opk_abc",
    label: "desk",
    role: "FINANCE",
    createdAt: noon
  },
  clients: {
    id,
    partnerId: 1,
    shard,
    ...machine,
    uid: `CL-${id}`,
    partnerClientRef: `ref-${id}`,
    email: `c${id}@example.com`,
    displayName: "Zoë Müller 中 🙂",
    level: "MICA",
    categorization: "RETAIL",
    residencyCountry: "DE",
    onboardingSource: "PARTNER",
    personKey: "f".repeat(64),
    createdAt: noon
  },
  verificationBlocks: { clientId: id, code: "ADDRESS", partnerId: 1, shard, ...machine },
  blockPayloads: { clientId: id, code: "ADDRESS", partnerId: 1, data: { street: "Secret Street 1", no: null } },
  assessments: { clientId: id, partnerId: 1, shard, ...machine },
  assessmentAttempts: {
    clientId: id,
    attempt: 1,
    partnerId: 1,
    questionnaire: 1,
    outcome: "WARN",
    score: 65,
    answers: { riskUnderstanding: "margin_lost" },
    takenAt: noon
  },
  questionnaires: { version: id, content: { questions: [] }, publishedAt: noon },
  kycPackages: { id, partnerId: 1, clientId: id, shard, ...machine, receivedAt: noon },
  kycRevisions: {
    packageId: id,
    revision: 1,
    partnerId: 1,
    clientId: id,
    payload: { name: "Zoë", numbers: [1, 2] },
    attestation: "signed",
    receivedAt: noon
  },
  identitySessions: {
    id,
    partnerId: 1,
    clientId: id,
    provider: "P",
    status: "DONE",
    data: [true, false],
    createdAt: noon
  },
  reportingRecords: { clientId: id, partnerId: 1, fromRevision: 1, complete: false, record: { a: "b" }, builtAt: noon },
  screeningRuns: {
    id,
    partnerId: 1,
    clientId: id,
    trigger: "ONBOARDING",
    passId: 3,
    outcome: "CLEAR",
    listVersion: 7,
    listVersions: { EU: "2026-11-20" },
    candidates: [{ entryId: 1 }],
    ranAt: noon
  },
  watchEntries: {
    id,
    list: "PEP",
    name: "Some Body",
    dob: "1970-01-01",
    country: "FR",
    source: "OPERATOR",
    addedAt: noon,
    removedAt: noon + 1,
    importId: 3
  },
  watchImports: { id, ...machine, source: "EU", sourceVersion: "2026-11-20", startedAt: noon },
  screeningPasses: { id, ...machine, startedAt: noon },
  dispositions: {
    clientId: id,
    entryId: 9,
    number: 1,
    partnerId: 1,
    disposition: "FALSE_POSITIVE",
    identityKey: "ab12",
    outcome: "POSSIBLE",
    score: 912_345,
    decidedAt: noon,
    decidedBy: "desk"
  },
  decisions: {
    id,
    partnerId: 1,
    clientId: id,
    decision: "GRANTED",
    reason: "clean",
    decidedBy: "system",
    decidedAt: noon
  },
  cases: {
    id,
    partnerId: 1,
    clientId: id,
    shard,
    ...machine,
    state: "OPEN",
    reason: "HIT",
    details: { candidates: [] },
    openedAt: noon,
    closedAt: noon
  },
  depositNotices: {
    id,
    partnerId: 1,
    clientId: id,
    shard,
    ...machine,
    state: "PENDING",
    currency: "EUR",
    amount: 100n,
    createdAt: noon,
    decidedAt: null
  },
  withdrawalRequests: {
    id,
    partnerId: 1,
    clientId: id,
    shard,
    ...machine,
    state: "REQUESTED",
    currency: "EUR",
    amount: 100n,
    destination: '{"iban":"DE02"}',
    createdAt: noon,
    paidAt: noon
  },
  reconBreaks: {
    id,
    ...machine,
    scope: "CLIENT",
    partnerId: 1,
    clientId: id,
    currency: "EUR",
    amount: -1n,
    openedAt: noon,
    closedAt: noon
  },
  tradingHalts: { id, ...machine, state: "ACTIVE", scope: "ALL", startedAt: noon },
  dailyMarks: { day: id * 86_400_000, symbol: "BTC-USDC", price: "60000.5", at: noon },
  lastListings: { id, listing: { version: 1, at: noon, markets: [], stakingMarkets: [] } },
  lastMarks: { symbol: `A${id}-USDC`, price: "60000.5", at: noon },
  collateralReports: { id, partnerId: 1, clientId: id, shard, ...machine, createdAt: noon },
  settlementItems: {
    id,
    ...machine,
    partnerId: 1,
    clientId: id,
    shard,
    type: "MANUAL",
    currency: "USDC",
    amount: -1n,
    txId: id,
    occurredAt: noon
  },
  custodyChanges: {
    id,
    partnerId: 1,
    before: "BROKER",
    after: "PARTNER",
    collateralAsset: "EURD",
    reason: "new agreement",
    changedBy: "ADMIN",
    changedAt: noon
  },
  interfirmRecords: {
    id,
    partnerId: 1,
    currency: "USDC",
    periodFrom: 0,
    periodTo: noon,
    amount: -5n,
    txRef: `wire ${id}`,
    note: null,
    recordedBy: "FINANCE",
    recordedAt: noon
  },
  bulkReportParts: {
    partnerId: 1,
    key: `bulk-${id}`,
    clientId: id,
    fingerprint: "k1:0",
    results: [[0, { itemId: id, ok: true, changed: true, status: "SETTLED" }]],
    decidedAt: noon
  },
  documents: {
    id,
    partnerId: 1,
    clientId: id,
    shard,
    type: "passport",
    purpose: "identity",
    side: "FRONT",
    filename: "passport.png",
    mimeType: "image/png",
    sizeBytes: 8_388_608,
    source: "PARTNER",
    uploadedAt: noon,
    deletedAt: null
  },
  documentContents: { documentId: id, partnerId: 1, clientId: id, storedAt: noon, content: "AAAA" },
  ...statementRows(id),
  ledgerTransactions: {
    txId: id,
    key: `collateral:${id}`,
    type: "MANUAL",
    actor: "desk",
    reason: "because",
    clientId: id,
    partnerId: 1,
    refs: { reportId: id },
    ts: noon
  },
  postings: {
    postingId: id * 2,
    txId: id,
    account: `client:${id}`,
    clientId: id,
    partnerId: 1,
    currency: "USDC",
    kind: "cash",
    amount: 9_007_199_254_740_993n
  },
  balances: {
    clientId: id,
    currency: "USDC",
    partnerId: 1,
    cash: -9_223_372_036_854_775_807n,
    reserved: 9_223_372_036_854_775_807n,
    deposited: 1n,
    fromVenue: -2n,
    funding: -1n
  },
  events: eventRow(1, id),
  webhookEndpoints: {
    partnerId: id,
    ...machine,
    url: "https://example.com/hook",
    secret: "whsec_Zoë",
    createdAt: noon,
    updatedAt: noon
  },
  webhookDeliveries: {
    id,
    partnerId: 1,
    clientId: id,
    event: "client.status",
    ...machine,
    body: '{"a":1}',
    ts: noon,
    nextAt: noon,
    claimToken: `claim-${id}`,
    claimedAt: noon
  },
  notifications: { id, partnerId: 1, clientId: id, kind: "CASE", ref: "1", ts: noon, writtenAt: noon },
  audit: auditRow(id, "client.create"),
  // Far above the numbers that a journal assigns.
  seals: {
    number: 1_000_000 + id,
    hash: "e".repeat(64),
    auditTo: id,
    decisionTo: 2,
    transactionTo: 3,
    postingTo: 4,
    interfirmTo: 5,
    custodyTo: 6
  },
  timers: { subject: `client:${id}`, name: "expiry", dueAt: noon },
  answers: {
    principal: "partner:1",
    key: `key-${id}`,
    fingerprint: "a".repeat(64),
    status: 201,
    body: '{"code":0}',
    answeredAt: noon
  },
  approvals: {
    id,
    ...machine,
    state: "PENDING",
    command: "limits.set",
    args: { limit: 1 },
    requestedBy: 2,
    requestedAt: noon
  }
})

/** An event as decided; the journal assigns the number. */
export const eventRow = (partnerId: number, clientId: number | null): EventRow => ({
  partnerId,
  seq: 0,
  name: "client.status",
  clientId,
  data: { clientId, text: "Zoë" },
  ts: noon
})

/** An audit row as decided. */
export const auditRow = (id: number, action: string): AuditRow => ({
  id,
  ts: noon,
  role: "PARTNER",
  keyLabel: "main",
  requestId: "req-1",
  partnerId: 1,
  clientId: id,
  object: `client:${id}`,
  action,
  before: "A",
  after: "B",
  reason: "because"
})

export interface CommitParts {
  readonly fence?: Fence | null
  readonly partner?: PartnerStamp
  readonly claims?: ReadonlyArray<Claim>
  readonly releases?: ReadonlyArray<string>
  readonly rows?: CommitRows
  readonly clearedTimers?: Commit["clearedTimers"]
  readonly endedCalls?: Commit["endedCalls"]
  readonly freshKeys?: NonNullable<Commit["freshKeys"]>
}

/** A commit of the given parts; without a fence unless one is given. */
export const commitOf = (parts: CommitParts): Commit => ({
  fence: parts.fence ?? null,
  partner: parts.partner ?? null,
  claims: parts.claims ?? [],
  releases: parts.releases ?? [],
  rows: parts.rows ?? {},
  clearedTimers: parts.clearedTimers ?? [],
  endedCalls: parts.endedCalls ?? [],
  ...(parts.freshKeys === undefined ? {} : { freshKeys: parts.freshKeys })
})

/** A commit that creates (`token` null) or changes a subject and puts one balance row of the client `id`. */
export const clientCommit = (id: number, token: number | null, parts: CommitParts = {}): Commit =>
  commitOf({
    ...parts,
    fence: { subject: `client:${id}`, expected: token },
    rows: { balances: [balance(id, BigInt(token ?? 0))], ...parts.rows }
  })

export const balance = (clientId: number, cash: bigint): Tables["balances"] => ({
  clientId,
  currency: "USDC",
  partnerId: 1,
  cash,
  reserved: 0n,
  deposited: 0n,
  fromVenue: 0n,
  funding: 0n
})

/** One ledger transaction with two legs; `off`: the amount that the house leg lacks. */
export const transaction = (
  id: number,
  amount: bigint,
  off = 0n
): Required<Pick<CommitRows, "ledgerTransactions" | "postings">> => ({
  ledgerTransactions: [{ ...sampleRows(id).ledgerTransactions, clientId: id }],
  postings: [
    { ...sampleRows(id).postings, amount },
    {
      ...sampleRows(id).postings,
      postingId: id * 2 + 1,
      account: "manual",
      clientId: null,
      amount: -amount + off
    }
  ]
})

/** Submits and waits for the outcome. */
export const submit = (journal: JournalShape, commit: Commit): Promise<Outcome> =>
  new Promise((resolve) => journal.submit(commit, resolve))

/** Submits all at the same moment, so that they share batches, and waits for all outcomes, in order. */
export const submitAll = (journal: JournalShape, commits: ReadonlyArray<Commit>): Promise<ReadonlyArray<Outcome>> =>
  Promise.all(commits.map((commit) => submit(journal, commit)))

export const tags = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<string> => outcomes.map((outcome) => outcome._tag)

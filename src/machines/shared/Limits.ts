/**
 * The specification's limit tables as constants, each with its clause, so that each number exists once. "Ours" marks a limit
 * that the specification does not set. Mailbox and queue capacities belong to the engine (doc 1 Limits; doc 2 Limits; doc 3
 * Limits; A1-05, A1-37, A1-27, A1-52, A1-53, DATE-003, A3-15, A2-13, A2-22, F19, A2-94, A1-44, A3-32, A2-65, A2-75, STS-15,
 * STS-21).
 */

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** Limits on the requests of each partner, and of each direct account, in a sliding window. */
export const rateLimits = {
  readPerMinute: 600,
  tradePerMinute: 120,
  /** Reads of one network address without a credential. */
  publicPerMinute: 600,
  windowMillis: 60 * second
} as const

/**
 * Timeout of a read by the class of its route, wall milliseconds. The read must complete its answer, or begin to send
 * it, within this time. A `long` answer is sent in pieces, and each piece has the same timeout. A `stream` has no
 * end. `operator` is for the operator surface, where one read may combine many. Ours.
 */
export const readTimes = {
  quick: 8 * second,
  long: 120 * second,
  stream: 8 * second,
  operator: 20 * second
} as const

/**
 * The time that the reader of a `long` answer may take for one piece (at most a quarter of a megabyte) and for the
 * whole answer, wall milliseconds. The service holds the resources of the answer for this long. Ours.
 */
export const readerTimes = { piece: 30 * second, whole: 600 * second } as const

/** Body caps in bytes; 8 MB means 8,388,608. */
export const bodyCaps = {
  onboarding: 256 * 1024,
  /** Ours: the specification has no cap. The longest documented report has under 4 KB, even with every character escaped. */
  collateral: 64 * 1024,
  /** Ours, for the reason given at `collateral`. */
  deposit: 64 * 1024,
  /** Ours, for the reason given at `collateral`. */
  settlementReport: 64 * 1024,
  /** Ours: 500 of the longest valid entries with every character escaped have under 4 MB. */
  bulkSettlementReport: 4 * 1024 * 1024,
  /** Ours: the longest valid request with every character escaped has 52 KB. */
  withdrawal: 64 * 1024,
  /** Ours: a url of the longest length with every character escaped has 12 KB. */
  webhook: 16 * 1024,
  /** Ours: 64 questions with the longest ids have under 9 KB. */
  appropriateness: 16 * 1024,
  /** Ours: the longest texts with every character escaped have under 20 KB. */
  mifid: 64 * 1024,
  /** Ours: the longest valid request for quotes with every character escaped has under 3 KB. */
  rfq: 16 * 1024,
  /** Ours: the longest valid take with every character escaped has under 1 KB. */
  take: 16 * 1024,
  /** Ours: the longest valid order with every character escaped has under 4 KB. */
  order: 16 * 1024,
  /** Ours: the longest valid request for a statement has under 200 bytes. */
  statement: 16 * 1024,
  documentFile: 8 * 1024 * 1024,
  /** The length of 8 MB in base64. */
  documentBase64: 11_184_812,
  /**
   * Ours: base64, space for the other fields, and for encoders that write a slash as two characters (one in 64 characters of
   * base64 is a slash).
   */
  documentBody: 11_184_812 + 512 * 1024,
  /** Ours, for an operator's command: the longest, 256 address ranges of a partner, has under 13 KB. */
  operator: 64 * 1024,
  /** Ours: a questionnaire with its points, seventy times the built-in one. */
  questionnaire: 256 * 1024,
  /** Ours: a thousand lines of a watch list with the longest names have under 900 KB. */
  watchListPiece: 1024 * 1024,
  edge: 12_058_624
} as const

/**
 * Limit on the members and entries of one body, on every surface; the contract sets none. The longest valid body (an
 * onboarding with every list full) has fewer than 30,000. Parsing large dictionaries costs much more than their bytes
 * suggest.
 */
export const bodyMembers = 50_000

/**
 * Limit on the faults that one answer names; the contract sets none. A body of wrong entries must not cause an answer of
 * megabytes. A partner's form fits completely; operators, who send long lists, get fewer.
 */
export const shownFaults = { partner: 1_000, operator: 100 } as const

/**
 * Memory for bodies that are being received; the contract sets no limit. One eighth is reserved for routes with caps up to
 * `smallCap`. In each part, one partner may use a share: two full documents, or eight full onboardings. A partner's second
 * large body must leave space for two full documents of others. So a fourth partner's full document still fits beside three
 * partners that send two each.
 */
export const bodyBudget = {
  bytes: 64 * 1024 * 1024,
  smallPart: 1 / 8,
  smallCap: bodyCaps.onboarding,
  smallShare: 8 * bodyCaps.onboarding,
  largeShare: 2 * bodyCaps.documentBody,
  largeReserve: 2 * bodyCaps.documentBody,
  waitMillis: 5 * second
} as const

/**
 * Limits on the work for pages of lists; the contract sets none. `rows` may be read at the same time for all principals of a
 * surface, `share` for one principal. Pages up to `small` rows have such a budget, and larger pages another. A page counts as
 * at least `least` rows, an operator's read as `operatorRows`. At most `waiting` pages of one principal wait, each at most
 * `waitMillis`. A page yields to writes for `pauseMillis`.
 */
export const pageBudget = {
  rows: 1_000,
  share: 500,
  small: 100,
  least: 25,
  operatorRows: 100,
  waiting: 256,
  waitMillis: 8 * second,
  pauseMillis: 2
} as const

/** Number of a client's documents that are not deleted, length of a file name, and years of retention. */
export const documentLimits = { livePerClient: 20, nameLength: 255, retentionYears: 5 } as const

/** Limits on the Idempotency-Key header. */
export const idempotency = {
  keyMaxLength: 128,
  replayMillis: 24 * hour,
  waitMillis: 5 * second
} as const

/** Cooling period after an appropriateness attempt. */
export const appropriatenessCoolingMillis = 24 * hour

/** Age and clock skew of identityCheck.verifiedAt, both inclusive. */
export const identityCheckLimits = { maxAgeMillis: 366 * day, skewMillis: 5 * minute } as const

/** Clock skew tolerated for a collateral report's occurredAt. */
export const collateralSkewMillis = 5 * minute

/** Limits on one client's requests for quotes and knock-out contracts. */
export const contractLimits = {
  /** The period in which dealers may quote a request. */
  window: { minMillis: second, maxMillis: day, defaultMillis: minute },
  /** The minimum distance of a barrier from the price, basis points of the price. */
  minDistanceBps: 10,
  openRequests: 50,
  openContracts: 1_000,
  /** The number of quotes in the answer for an OPEN request, and of those kept afterwards besides the accepted one. */
  quotes: 100,
  quotesKept: 20,
  /** The largest distance from the mark of a closing quote that is accepted automatically, basis points of the mark. */
  closeQuoteMaxDeviationBps: 100
} as const

/** Limit on one client's swaps with expected or possible payments: with more, every figure of the account would be slow. */
export const swapLimits = { open: 1_000 } as const

export const orderLimits = {
  /** Limit on the working orders of one client. */
  working: 500,
  /** Limit on the orders of one OCO group. */
  groupMembers: 20
} as const

export interface PageLimit {
  readonly max: number
  readonly default: number
}

/** Page sizes per list; the smallest is always 1. */
export const pageLimits = {
  clients: { max: 200, default: 50 },
  klines: { max: 1000, default: 200 },
  marketTrades: { max: 500, default: 50 },
  /** Orders, trades, position history, contracts, swaps, ledger. */
  history: { max: 500, default: 100 },
  statements: { max: 200, default: 50 },
  deposits: { max: 200, default: 50 },
  withdrawals: { max: 200, default: 50 },
  collateral: { max: 200, default: 50 },
  settlementItems: { max: 500, default: 100 },
  interfirm: { max: 500, default: 50 },
  /** The specification gives no default here; other lists of 1 to 200 rows have 50. */
  deliveries: { max: 200, default: 50 }
} as const satisfies Record<string, PageLimit>

/** Limits on the length of onboarding texts, in code points. */
export const kycLengths = {
  partnerClientRef: 64,
  name: 50,
  streetName: 150,
  houseNumber: 20,
  city: 50,
  state: 50,
  postalCode: 20,
  documentNumber: 50,
  noTinReasonOther: 200,
  institution: 100,
  fullName: 100,
  associateAddress: 200,
  identityReference: 200,
  identityDocumentType: 40,
  cddStandard: 64,
  screeningProvider: 100,
  attestedBy: 200
} as const

/**
 * Limits of onboarding lists that no rule against repeated entries limits; the contract sets none. A body under its cap can't
 * hold more valid associations (each has at least 170 bytes), and no client has more documents.
 */
export const kycListMax = { associations: 1_600, documentReferences: 1_000 } as const

/** Limits on the length of the free texts in the MiFID blocks, in code points. */
export const mifidLengths = {
  purposeOther: 200,
  /** Status, industry and position: the specification limits only the status, and the other two have its limit. */
  employmentOther: 100,
  employerName: 100,
  sourceOther: 200
} as const

/** Limits on the length of money texts, in code points. */
export const moneyLengths = {
  partnerRef: 64,
  evidenceRef: 200,
  destination: 4096,
  sourceAsset: 32,
  txRef: 128,
  partnerTxRef: 128,
  settlementNote: 500
} as const

/** Limit on the entries of one bulk settlement report. */
export const bulkSettlementMax = 500

/** Limit on the characters of a webhook url, before and after normalisation. */
export const webhookUrlMaxLength = 2_048

export const webhookLimits = {
  acknowledgeMillis: 10 * second,
  attempts: 10,
  retryBaseMillis: 5 * second,
  retryMaxDoublings: 7,
  leaseTakeoverMillis: 60 * second,
  workerEveryMillis: 5 * second,
  signatureFreshMillis: 300 * second,
  failureBodyReadBytes: 16 * 1024,
  failureBodyKeptBytes: 256
} as const

/**
 * Limits of the notification feed: intervals of the sweep, rows in a response, and the age of the oldest row in a query
 * without `since`.
 */
export const notificationLimits = {
  sweepEveryMillis: 5 * second,
  rereadMillis: 30 * second,
  answerMax: 200,
  usualMillis: day
} as const

/** Limits on statements. `running` and `waiting` limit the builds of each partner; the contract does not set them. */
export const statementLimits = {
  /** Builds of one client's statements in a sliding window. */
  builds: { most: 30, windowMillis: hour },
  rows: 250_000,
  periodMillis: 366 * day,
  running: 2,
  waiting: 4,
  /** Models built at a time, and the heartbeat timeout of the thread that builds them, wall milliseconds. */
  models: { running: 16, silentMillis: 30 * second },
  /** A caller waits this long for a build, wall milliseconds; afterwards the build continues without it. */
  patienceMillis: 20 * second,
  /**
   * A build without a waiting caller stays available to a retry for this long, although the retry's period ends at another
   * time.
   */
  keptMillis: 10 * minute,
  /**
   * Limits on rendering files, in this order: all threads; files that wait for a thread, and their timeout; the time after
   * which a partner with more threads than its share loses a slow reader; threads and waiting files of one partner; the
   * heartbeat timeout of a thread whose reader accepts every piece. Wall milliseconds.
   */
  files: {
    threads: 2,
    waiting: 32,
    waitMillis: 60 * second,
    shareMillis: 10 * second,
    ofPartner: 16,
    silentMillis: 30 * second
  }
} as const

/** The largest single advance of the sandbox's clock: ten years, longer than any deadline and far below the limit of Unix ms. */
export const maxAdvanceMillis = 10 * 366 * 86_400_000

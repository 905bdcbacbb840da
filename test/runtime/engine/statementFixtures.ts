/** Sample rows of statements and of the jobs that make them. */
import { machine, noon } from "./tradingFixtures.ts"

/** One row of each for client `id` of partner 1. */
export const statementRows = (id: number) => ({
  statements: {
    id,
    ...machine,
    partnerId: 1,
    clientId: id,
    kind: "ACCOUNT",
    periodFrom: 0,
    periodTo: noon,
    number: 1,
    modelId: id,
    generatedAt: noon
  },
  statementModels: {
    id,
    partnerId: 1,
    clientId: id,
    sha256: String(id).padStart(64, "0"),
    size: 2,
    pieces: 1,
    counts: [0],
    storedAt: noon
  },
  statementPieces: { modelId: id, number: 0, partnerId: 1, clientId: id, section: -1, content: "{}", storedAt: noon },
  statementJobs: {
    id,
    name: "TRANSACTIONS",
    periodFrom: id,
    periodTo: noon,
    dueAt: noon,
    cursor: 0,
    clients: 0,
    made: 0,
    startedAt: noon,
    endedAt: null
  },
  statementJobFailures: {
    id,
    jobId: 1,
    partnerId: 1,
    clientId: id,
    state: "OPEN",
    tries: 1,
    retryAt: noon,
    reason: "because",
    failedAt: noon
  },
  dailyEquities: { day: noon, clientId: id, partnerId: 1, equity: 5n, unvalued: 1, held: { "USDC cash": "5" } }
})

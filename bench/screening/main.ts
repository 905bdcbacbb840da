/**
 * The screening process, with one list each, so that its heap holds nothing else. It screens clients through the index,
 * and some of them by a plain scan with the same scoring over names prepared in advance. Both must agree (F26).
 */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { listedForms, type NameForms, personForms } from "../../src/machines/screening/nameForms.ts"
import {
  findAll,
  makeScreener,
  scoreForms,
  screen,
  type ScreenedPerson,
  type Screener,
  type ScreeningResult,
  toResult,
  unreadable
} from "../../src/machines/screening/screen.ts"
import type { WatchEntry } from "../../src/machines/screening/WatchList.ts"
import { answerParent } from "../child.ts"
import { percentile } from "../load/protocol.ts"
import { makeClients, makeEntries } from "./lists.ts"
import type { ScreeningAnswer, ScreeningQuestion } from "./protocol.ts"

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

const heapMegabytes = (): number => {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

interface Prepared {
  readonly entry: WatchEntry
  readonly forms: NameForms
}

const none: ReadonlySet<number> = new Set()

/** The reference by definition: every entry is scored. */
const scan = (list: ReadonlyArray<Prepared>, person: ScreenedPerson): ScreeningResult => {
  const forms = personForms(person)
  const found = [...unreadable(person)]
  for (const { entry, forms: listed } of list) {
    const pair = scoreForms(forms, person, listed, entry)
    if (pair.outcome !== "CLEAR") found.push({ entryId: entry.entryId, list: entry.list, ...pair })
  }
  return toResult(found)
}

const timed = <A>(work: () => A): { readonly micros: number; readonly value: A } => {
  const startedAt = performance.now()
  const value = work()
  return { micros: (performance.now() - startedAt) * 1_000, value }
}

const threadMicros = (): number => {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/** The work of the index for one client on average. */
const countWork = (screener: Screener, clients: ReadonlyArray<ScreenedPerson>) => {
  let seen = 0
  let compared = 0
  let matched = 0
  const counting: Screener = {
    size: screener.size,
    add: (entry) => screener.add(entry),
    remove: (entryId) => screener.remove(entryId),
    visitCandidates: (question, visit) => {
      const effort = screener.visitCandidates(question, visit)
      seen += effort.seen
      compared += effort.compared
      return effort
    }
  }
  for (const client of clients) matched += findAll(counting, client).length
  return { seen: seen / clients.length, comparedNames: compared / clients.length, matched: matched / clients.length }
}

/** Entries of one piece, as the service adds them at its start. */
const pieceSize = 500

const build = (entries: ReadonlyArray<WatchEntry>) => {
  const screener = makeScreener([])
  let buildMillis = 0
  let pieceMillis = 0
  for (let from = 0; from < entries.length; from += pieceSize) {
    const { micros } = timed(() => {
      for (const entry of entries.slice(from, from + pieceSize)) screener.add(entry)
    })
    buildMillis += micros / 1_000
    pieceMillis = Math.max(pieceMillis, micros / 1_000)
  }
  return { screener, buildMillis, pieceMillis }
}

const measure = (question: ScreeningQuestion): ScreeningAnswer => {
  const before = heapMegabytes()
  const entries = makeEntries(question.entries, question.seed)
  const withEntries = heapMegabytes()
  const { screener, buildMillis, pieceMillis } = build(entries)
  const withIndex = heapMegabytes()
  const prepared = entries.map((entry) => ({ entry, forms: listedForms(entry.name) }))
  const p50Micros: Array<number> = []
  const p99Micros: Array<number> = []
  const scanMicros: Array<number> = []
  const cpuMicros: Array<number> = []
  let found = 0
  let compared = 0
  for (let round = 0; round <= question.rounds; round++) {
    const clients = makeClients(question.clients, question.seed + 1 + round, entries)
    const cpu = threadMicros()
    const results = clients.map((client) => timed(() => screen(screener, client, none)))
    const used = threadMicros() - cpu
    const scans = clients.slice(0, question.scanned).map((client) => timed(() => scan(prepared, client)))
    for (const [place, { value }] of scans.entries()) {
      if (JSON.stringify(value) !== JSON.stringify(results[place]?.value)) {
        throw new Error(`The index and the plain scan differ for client ${place} of round ${round}.`)
      }
    }
    // The first round warms up both sides.
    if (round === 0) continue
    const ascending = Float64Array.from(results, ({ micros }) => micros).sort()
    cpuMicros.push(used / clients.length)
    p50Micros.push(percentile(ascending, 0.5))
    p99Micros.push(percentile(ascending, 0.99))
    scanMicros.push(percentile(Float64Array.from(scans, ({ micros }) => micros).sort(), 0.5))
    found += results.filter(({ value }) => value.outcome !== "CLEAR").length
    compared += scans.length
  }
  return {
    ...countWork(screener, makeClients(question.clients, question.seed + 1, entries)),
    buildMillis,
    pieceMillis,
    indexMegabytes: withIndex - before,
    entriesMegabytes: withEntries - before,
    p50Micros,
    p99Micros,
    scanMicros,
    cpuMicros,
    screened: question.rounds * question.clients,
    found,
    compared
  }
}

answerParent((question: ScreeningQuestion): Promise<ScreeningAnswer> => Promise.resolve(question).then(measure))

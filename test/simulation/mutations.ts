/**
 * Deliberate faults of the system, one at a time, which prove that the auditor notices them. Each breaks one promise
 * through the seams of a simulated process. Production code does not know of them.
 */
import type { Commit } from "../../src/runtime/engine/journal/Commit.ts"
import type { MemoryStore } from "../../src/runtime/engine/journal/MemoryStore.ts"
import type { TableName, Tables } from "../../src/runtime/tables/Catalogue.ts"
import type { OutgoingWebhook } from "../../src/runtime/ports/WebhookSender.ts"
import { accountMutations } from "./accountMutations.ts"
import {
  anyEpoch,
  anyToken,
  commits,
  isTaken,
  journal,
  type Mutation,
  nameOf,
  only,
  tampered,
  told,
  without
} from "./bends.ts"
import { contractMutations } from "./contractMutations.ts"
import { statementMutations } from "./statementMutations.ts"
import { swapMutations } from "./swapMutations.ts"
import { bentStore } from "./ObservedStore.ts"
import { marginMutations } from "./marginMutations.ts"
import { orderMutations } from "./orderMutations.ts"
import { operatorMutations } from "./operatorMutations.ts"
import { venueMutations } from "./venueMutations.ts"

/** A process that never notices another owner: it always reads itself as the owner from the writer row. */
const ownReign = (store: MemoryStore): MemoryStore => {
  let reign = { owner: "", epoch: 0 }
  return bentStore(store, {
    takeOver: (owner) => {
      reign = { owner, epoch: store.takeOver(owner, () => {}) }
      return reign.epoch
    },
    get epoch() {
      return reign.epoch
    },
    set epoch(epoch) {
      reign = { ...reign, epoch }
    },
    get owner() {
      return reign.owner
    }
  })
}

/** A process that reads every partner as under BROKER custody. */
const underBroker = (store: MemoryStore): MemoryStore =>
  bentStore(store, {
    rows: (table) => {
      if ((table as TableName) !== "partners") return store.rows(table)
      const shown = store.rows("partners").map((row) => ({ ...row, custodyModel: "BROKER" as const }))
      return shown as unknown as ReturnType<typeof store.rows<typeof table>>
    }
  })

/** A process that finds no balance and no posting when it scans the tables; its mailboxes have theirs. */
const withoutMoney = (store: MemoryStore): MemoryStore =>
  bentStore(store, {
    rows: (table) =>
      (table as TableName) === "balances" || (table as TableName) === "postings" ? [] : store.rows(table)
  })

export const mutations: ReadonlyArray<Mutation> = [
  ...operatorMutations,
  ...venueMutations,
  ...contractMutations,
  ...swapMutations,
  ...statementMutations,
  ...orderMutations,
  ...marginMutations,
  ...accountMutations,
  {
    name: "the writer's epoch is not checked",
    shows: ["writer"],
    seams: () => ({ store: ownReign })
  },
  {
    name: "no fence, and memory is kept although nobody knows what was written",
    shows: ["balances"],
    seams: () => ({
      ...commits(anyToken),
      ...told((outcome) => (outcome._tag === "Unavailable" ? { ...outcome, unknown: false } : outcome))
    })
  },
  {
    name: "the answer leaves before the commit",
    shows: ["output-gate"],
    seams: () =>
      // Internal commands get their outcome. Otherwise they would find their work undone and repeat it for ever.
      journal((submit) => (commit, done, lane) => {
        const answered = lane !== "internal"
        submit(commit, answered ? () => {} : done, lane)
        if (answered) done({ _tag: "Committed" })
      })
  },
  {
    name: "a lost commit is taken for a written one",
    shows: ["output-gate"],
    seams: () =>
      told((outcome) => (outcome._tag === "Unavailable" && outcome.unknown ? { _tag: "Committed" } : outcome))
  },
  {
    name: "the second word is not told",
    shows: ["liveness"],
    seams: () => {
      const heard = new WeakSet<Commit>()
      return journal((submit) => (commit, done) => {
        submit(commit, (outcome) => {
          if (!heard.has(commit)) done(outcome)
          heard.add(commit)
        })
      })
    }
  },
  {
    name: "claims are dropped",
    shows: ["claims", "defects"],
    seams: () => commits((commit) => ({ ...commit, claims: [] }))
  },
  {
    name: "the stored answer is forgotten",
    shows: ["output-gate"],
    seams: () => commits((commit) => without(commit, "answers"))
  },
  {
    name: "a bulk report forgets what it has done",
    shows: ["bulk-truth"],
    seams: () => commits((commit) => without(commit, "bulkReportParts"))
  },
  {
    name: "a key that is taken refuses no commit",
    shows: ["output-gate"],
    seams: () => commits((commit, store) => (isTaken(commit, store) ? without(commit, "answers") : commit))
  },
  {
    name: "neither a key nor a reference that is taken refuses a commit",
    shows: ["one-execution"],
    seams: () =>
      commits((commit, store) => ({
        ...(isTaken(commit, store) ? without(commit, "answers") : commit),
        claims: commit.claims.filter(({ name }) => !name.startsWith("collateral:"))
      }))
  },
  {
    name: "a later answer takes the place of the stored one",
    shows: ["same-bytes"],
    seams: () => {
      const later = new Map<string, Tables["answers"]>()
      return {
        ...commits((commit, store) => {
          if (!isTaken(commit, store)) return commit
          for (const answer of commit.rows.answers ?? []) later.set(nameOf(answer), answer)
          return without(commit, "answers")
        }),
        ...tampered("answers", (rows) => rows.map((answer) => later.get(nameOf(answer)) ?? answer))
      }
    }
  },
  {
    name: "the answer is stored by a commit of its own",
    shows: ["output-gate"],
    seams: () =>
      journal((submit) => (commit, done) => {
        if (commit.rows.answers === undefined || commit.fence === null) return submit(commit, done)
        submit(without(commit, "answers"), (outcome) => {
          done(outcome)
          if (outcome._tag === "Committed") submit(only(commit, "answers"), () => {})
        })
      })
  },
  {
    name: "deliveries are queued by a commit of their own",
    shows: ["delivery-rows"],
    seams: () =>
      journal((submit) => (commit, done) => {
        if (commit.rows.webhookDeliveries === undefined) return submit(commit, done)
        submit(without(commit, "webhookDeliveries"), (outcome) => {
          if (outcome._tag === "Committed") submit(only(commit, "webhookDeliveries"), () => {})
          done(outcome)
        })
      })
  },
  {
    name: "the partner's epoch is not checked",
    shows: ["delivery-rows", "barred"],
    seams: () => commits(anyEpoch)
  },
  {
    name: "the settlement item is left out",
    shows: ["settlement-item"],
    seams: () => commits((commit) => (commit.rows.postings === undefined ? commit : without(commit, "settlementItems")))
  },
  {
    name: "the balance row is left out",
    shows: ["balances"],
    seams: () => commits((commit) => without(commit, "balances"))
  },
  {
    name: "a confirmed deposit is not credited",
    shows: ["deposits"],
    seams: () =>
      commits((commit) =>
        commit.rows.depositNotices?.some(({ state }) => state === "CONFIRMED") === true
          ? without(commit, "ledgerTransactions", "postings", "balances")
          : commit
      )
  },
  {
    name: "a withdrawal that is not paid out keeps its reserve",
    shows: ["withdrawals"],
    seams: () =>
      commits((commit) =>
        commit.rows.withdrawalRequests?.some(({ state }) => state === "CANCELLED" || state === "REJECTED") === true
          ? without(commit, "ledgerTransactions", "postings", "balances")
          : commit
      )
  },
  {
    name: "a partner's custody model is not read back",
    shows: ["custody"],
    seams: () => ({ store: underBroker })
  },
  {
    name: "what clients hold does not count against another custody model",
    shows: ["custody"],
    seams: () => ({ store: withoutMoney })
  },
  {
    name: "a further revision of a KYC package is not stored",
    shows: ["revisions"],
    seams: () =>
      commits((commit) =>
        commit.rows.kycRevisions?.some(({ revision }) => revision > 1) === true
          ? without(commit, "kycRevisions")
          : commit
      )
  },
  {
    name: "a timer that has fired is not cleared",
    shows: ["timers"],
    seams: () => commits((commit) => ({ ...commit, clearedTimers: [] }))
  },
  {
    name: "a client's restrictions are not read back",
    shows: ["rules"],
    seams: () => ({
      store: (store) =>
        bentStore(store, {
          image: (subject) => {
            const { token, rows } = store.image(subject)
            const unbarred = rows.map((entry) =>
              entry.table === "clients"
                ? { ...entry, row: { ...entry.row, context: { ...entry.row.context, restrictions: [] } } }
                : entry
            )
            return { token, rows: unbarred }
          }
        })
    })
  },
  {
    name: "a new secret starts the feed anew",
    shows: ["feed"],
    seams: () =>
      commits((commit) => {
        const { webhookEndpoints } = commit.rows
        if (webhookEndpoints === undefined) return commit
        const moved = webhookEndpoints.map((row) => ({ ...row, context: { ...row.context, sweepFrom: row.updatedAt } }))
        return { ...commit, rows: { ...commit.rows, webhookEndpoints: moved } }
      })
  },
  {
    name: "a forwarded notification is not claimed",
    shows: ["delivery-rows"],
    seams: () =>
      commits((commit) => ({ ...commit, claims: commit.claims.filter(({ name }) => !name.startsWith("feed:")) }))
  },
  {
    name: "a delivery's result is written without its claim",
    shows: ["delivery-claim"],
    seams: () => ({
      deliveries: (inner, store) => ({
        ...inner,
        finish: (changes) => {
          const rows = new Map(store.rows("webhookDeliveries").map((row) => [row.id, row]))
          return inner.finish(
            changes.map((change) => ({ ...change, before: rows.get(change.before.id) ?? change.before }))
          )
        }
      })
    })
  },
  {
    name: "a failed attempt counts as sent",
    shows: ["delivered"],
    seams: () => ({
      deliveries: (inner) => ({
        ...inner,
        finish: (changes) =>
          inner.finish(
            changes.map((change) => (change.state === "RETRYING" ? { ...change, state: "SENT" as const } : change))
          )
      })
    })
  },
  {
    name: "deliveries are signed with the first secret",
    shows: ["signature"],
    seams: () => {
      const secrets = new Map<string, string>()
      return {
        outgoing: (webhook: OutgoingWebhook) => {
          const secret = secrets.get(webhook.url) ?? webhook.secret
          secrets.set(webhook.url, secret)
          return { ...webhook, secret }
        }
      }
    }
  },
  {
    name: "reads go on while nobody knows what was written",
    shows: ["reads"],
    seams: () => ({ journal: (inner) => ({ ...inner, certain: () => true }) })
  },
  {
    name: "a replaced process is not told",
    shows: ["liveness"],
    seams: () => ({ journal: (inner) => ({ ...inner, onUsurped: () => {} }) })
  },
  {
    name: "a state is written that no machine has",
    shows: ["states"],
    seams: () =>
      commits((commit) => ({
        ...commit,
        rows: {
          ...commit.rows,
          ...(commit.rows.settlementItems === undefined
            ? {}
            : {
                settlementItems: commit.rows.settlementItems.map((item) => ({ ...item, state: "LIMBO" as "PENDING" }))
              })
        }
      }))
  },
  {
    name: "the store forgets the last report when a process takes it over",
    shows: ["acknowledged"],
    seams: () => {
      const forgotten = new Set<number>()
      return {
        storage: (store) => {
          const takeOver = store.takeOver.bind(store)
          store.takeOver = (owner, replaced) => {
            const last = store.rows("collateralReports").at(-1)
            if (last !== undefined) forgotten.add(last.id)
            return takeOver(owner, replaced)
          }
          tampered("collateralReports", (rows) => rows.filter(({ id }) => !forgotten.has(id))).storage?.(store)
        }
      }
    }
  },
  {
    name: "an event is lost",
    shows: ["events"],
    seams: () => tampered("events", (rows) => rows.filter((_, index) => index !== 3))
  },
  {
    name: "an audit row is changed afterwards",
    shows: ["audit-chain"],
    seams: () => tampered("audit", (rows) => rows.map((row, index) => (index === 5 ? { ...row, role: "ADMIN2" } : row)))
  },
  {
    name: "a posting is changed afterwards",
    shows: ["double-entry"],
    seams: () =>
      tampered("postings", (rows) =>
        rows.map((row, index) => (index === 0 ? { ...row, amount: row.amount + 1n } : row))
      )
  },
  {
    name: "the body is written anew for each attempt",
    shows: ["delivery-body"],
    seams: () => {
      let attempts = 0
      return { outgoing: (webhook) => ({ ...webhook, body: webhook.body.replace("{", `{"attempt":${++attempts},`) }) }
    }
  }
]

/**
 * Deletes the contents of documents, in the commit that records the deletion: on an operator's command, or by a durable
 * timer of the client five years after the account was closed. The facts of the documents stay (A1-38).
 */
import { documentLimits } from "../../../../machines/shared/Limits.ts"
import type { Turn } from "../../../engine/mailbox/ActorHost.ts"
import { applyEffects } from "../../../effects/Interpreter.ts"
import type { TimerHandlers } from "../../../engine/timers/Timers.ts"
import type { DocumentRow } from "../../../tables/document.ts"

/** The timer of a closed client that ends the retention of its documents. */
export const retentionTimer = "documents.retention"

/** Sets the timer that deletes the contents of a client that is being closed. A client without documents needs none. */
export const keepDocumentsUntilDue = (turn: Turn): void => {
  if (turn.state.all("documents").length === 0) return
  applyEffects(turn, { partnerId: null, clientId: null }, [
    { type: "timer.set", name: retentionTimer, at: yearsAfter(turn.now, documentLimits.retentionYears) }
  ])
}

/** The same date and time of day in a later year, UTC; 29 February becomes 1 March where there is none. */
export const yearsAfter = (millis: number, years: number): number => {
  const date = new Date(millis)
  return date.setUTCFullYear(date.getUTCFullYear() + years)
}

/**
 * Deletes the content of a document and records the time of deletion in the same commit; returns the document's new row.
 */
export const emptyDocument = (turn: Turn, live: DocumentRow, reason: string): DocumentRow => {
  const row: DocumentRow = { ...live, deletedAt: turn.now }
  const { id: documentId, partnerId, clientId } = row
  turn.draft.put("documents", row)
  turn.draft.put("documentContents", { documentId, partnerId, clientId, storedAt: turn.now, content: "" })
  applyEffects(turn, { partnerId, clientId, object: `document:${documentId}` }, [
    { type: "audit", action: "document.delete", before: "LIVE", after: "DELETED", reason }
  ])
  return row
}

/** The handler of the retention timer, which runs in the client's mailbox. */
export const retentionHandlers = {
  [retentionTimer]: (turn) => {
    // The client is still closed when the timer fires: only a closed client has the timer, and CLOSED is final.
    for (const live of turn.state.all("documents")) emptyDocument(turn, live, "retention ended")
  }
} satisfies TimerHandlers

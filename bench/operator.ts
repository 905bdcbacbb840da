/** What an operator asks of a service, answered as text; and waiting for what follows. */
import { Agent } from "node:https"
import { setTimeout as pause } from "node:timers/promises"
import type { RunningService } from "./service.ts"
import { textOf } from "./textOf.ts"

const patienceMillis = 120_000

/** Looks until it is so. */
export const until = async (what: string, done: () => Promise<boolean>, everyMillis = 100): Promise<void> => {
  const patience = performance.now() + patienceMillis
  while (!(await done())) {
    if (performance.now() > patience) throw new Error(`waited in vain until ${what}`)
    await pause(everyMillis)
  }
}

/** A call that an operator makes of a service, answered as text. */
export const operator = async (service: RunningService, method: "GET" | "POST", path: string, body?: object) => {
  const agent = new Agent({ ca: service.ca })
  try {
    return await textOf(service, agent, { method, path: `/operator/v1${path}`, key: service.operatorKey, body })
  } finally {
    agent.destroy()
  }
}

/**
 * Processes of the benchmark (load generator, reference programs). They are forked with an IPC channel that carries one
 * request and one answer at a time. A child ends when its parent ends.
 */
import { type ChildProcess, fork } from "node:child_process"
import { join } from "node:path"

type Reply<A> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly error: string }

export class Child<Question extends object, A> {
  readonly pid: number
  private readonly process: ChildProcess
  private waiting: ((reply: Reply<A>) => void) | null = null

  /** Starts `file` (relative to bench/). */
  constructor(file: string) {
    this.process = fork(join(import.meta.dirname, file), { stdio: ["ignore", "inherit", "inherit", "ipc"] })
    this.pid = this.process.pid ?? 0
    this.process.on("message", (reply) => this.settle(reply as Reply<A>))
    this.process.once("exit", (code) => this.settle({ ok: false, error: `${file} ended with ${code}` }))
  }

  /** Sends a request and waits for its answer. Rejects if the work fails. */
  ask(question: Question): Promise<A> {
    return new Promise((resolve, reject) => {
      this.waiting = (reply) => (reply.ok ? resolve(reply.value) : reject(new Error(reply.error)))
      this.process.send(question)
    })
  }

  /** Ends the process and waits for its end. */
  async stop(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return
    const gone = new Promise<void>((resolve) => void this.process.once("exit", () => resolve()))
    this.process.disconnect()
    await gone
  }

  private settle(reply: Reply<A>): void {
    this.waiting?.(reply)
    this.waiting = null
  }
}

/** The child's side: answers each request by `work`, and ends when the parent has ended. */
export const answerParent = <Question, A>(work: (question: Question) => Promise<A>): void => {
  process.on("message", (question) => {
    work(question as Question).then(
      (value) => process.send?.({ ok: true, value }),
      (error: unknown) =>
        process.send?.({ ok: false, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    )
  })
  process.on("disconnect", () => process.exit(0))
}

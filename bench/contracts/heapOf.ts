/**
 * Measures the heap of one of our processes after a garbage collection. A signal opens the process's inspector on a
 * free port (the process must have been started with `--inspect-port=0`). Resident memory is no measure of live
 * objects, because a process keeps memory that its start has used and freed.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"

/** The NODE_OPTIONS of a process whose heap will be measured. */
export const heapOptions = "--inspect-port=0"

const patienceMillis = 10_000
const listening = "0A"

/** Ports on which a process listens. */
const portsOf = (pid: number): ReadonlySet<number> => {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
      } catch {
        return [] // The process has closed the file in the meantime.
      }
    })
  )
  const lines = readFileSync(`/proc/${pid}/net/tcp`, "utf8").trim().split("\n").slice(1)
  return new Set(
    lines.flatMap((line) => {
      const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/)
      return state === listening && sockets.has(inode) ? [Number.parseInt(local.split(":")[1] ?? "", 16)] : []
    })
  )
}

/** The inspector ports of processes, by pid. Each inspector is opened once. */
const inspectors = new Map<number, number>()
const inspectorOf = async (pid: number): Promise<number> => {
  const known = inspectors.get(pid)
  if (known !== undefined) return known
  const before = portsOf(pid)
  process.kill(pid, "SIGUSR1")
  for (let waited = 0; waited < patienceMillis; waited += 50) {
    const [opened] = [...portsOf(pid)].filter((port) => !before.has(port))
    if (opened !== undefined) {
      inspectors.set(pid, opened)
      return opened
    }
    await pause(50)
  }
  throw new Error(`process ${pid} has opened no inspector`)
}

interface Answer {
  readonly id: number
  readonly result: { readonly result?: { readonly value?: unknown } }
}

/** Bytes on the heap of a process and in its external buffers, after a garbage collection. */
export const heldBytes = async (pid: number): Promise<number> => {
  const port = await inspectorOf(pid)
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as ReadonlyArray<{
    readonly webSocketDebuggerUrl: string
  }>
  if (target === undefined) throw new Error(`the inspector of ${pid} shows nothing`)
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  try {
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve)
      socket.addEventListener("error", () => reject(new Error(`the inspector of ${pid} can not be reached`)))
    })
    let asked = 0
    const ask = (method: string, params: object): Promise<Answer> =>
      new Promise((resolve) => {
        const id = ++asked
        const hear = ({ data }: MessageEvent): void => {
          const answer = JSON.parse(String(data)) as Answer
          if (answer.id !== id) return
          socket.removeEventListener("message", hear)
          resolve(answer)
        }
        socket.addEventListener("message", hear)
        socket.send(JSON.stringify({ id, method, params }))
      })
    await ask("HeapProfiler.collectGarbage", {})
    const expression = "(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())"
    return Number((await ask("Runtime.evaluate", { expression })).result.result?.value)
  } finally {
    socket.close()
  }
}

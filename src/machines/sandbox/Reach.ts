/** How an object of a sandbox comes into a state. */
export interface Reach {
  /** Who can do it: the partner by its own requests, the operator by a command, or nobody through these surfaces. */
  readonly by: "partner" | "operator" | "nobody"
  /** What they do, the commands in backticks. */
  readonly how: string
}

export const partner = (how: string): Reach => ({ by: "partner", how })
export const operator = (how: string): Reach => ({ by: "operator", how })
export const nobody = (how: string): Reach => ({ by: "nobody", how })

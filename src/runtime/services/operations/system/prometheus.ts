/** The Prometheus text format, version 0.0.4: families with their help and type, one sample a line. */
export interface Sample {
  /** The suffix of a histogram's sample, `_bucket`, `_sum` or `_count`; absent for other types. */
  readonly suffix?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number | bigint
}

export interface Family {
  readonly name: string
  readonly help: string
  readonly type: "gauge" | "counter" | "histogram"
  readonly samples: ReadonlyArray<Sample>
}

export const gauge = (name: string, help: string, samples: ReadonlyArray<Sample>): Family => ({
  name,
  help,
  type: "gauge",
  samples
})

export const counter = (name: string, help: string, samples: ReadonlyArray<Sample>): Family => ({
  name,
  help,
  type: "counter",
  samples
})

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"')

const labelsOf = (labels: Readonly<Record<string, string>> | undefined): string => {
  if (labels === undefined) return ""
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(",")}}`
}

export const prometheusText = (families: ReadonlyArray<Family>): string =>
  families
    .map(({ name, help, type, samples }) =>
      [
        `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`,
        `# TYPE ${name} ${type}`,
        ...samples.map(({ suffix = "", labels, value }) => `${name}${suffix}${labelsOf(labels)} ${value}`),
        ""
      ].join("\n")
    )
    .join("")

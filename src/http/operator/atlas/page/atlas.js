"use strict"
/* The live part of the atlas: the number of objects in each state, the list of these objects, and the history of each. It sends
   GET requests only. Text from the service is inserted as text, never as markup. The address after # holds the view, so that the
   browser can bookmark it and go back to it. */
;(() => {
  const byId = (id) => document.getElementById(id)
  const known = JSON.parse(byId("known").textContent)
  const map = byId("map")
  const panel = byId("panel")
  const follow = byId("follow")
  const pollMillis = 2000
  const longestPauseMillis = 15000
  let counts = {}
  /* The service's business time at the last response: in a sandbox it can be ahead of wall time. */
  let asOf = 0
  let pages = [null]
  let shown = ""
  let drawn = ""
  let failures = 0

  /* Escapes characters that are invisible or reverse the direction of a line. */
  const clean = (value) =>
    String(value).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (c) => "\\u" + c.codePointAt(0).toString(16).padStart(4, "0"))
  const el = (name, attributes, ...children) => {
    const node = document.createElement(name)
    for (const [key, value] of Object.entries(attributes ?? {})) node.setAttribute(key, value)
    for (const child of children.flat()) {
      if (child === null || child === undefined) continue
      node.append(child instanceof Node ? child : clean(child))
    }
    return node
  }
  const svg = (name, attributes, text) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name)
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value)
    if (text !== undefined) node.textContent = text
    return node
  }

  const hrefOf = (...parts) => "#/" + parts.map(encodeURIComponent).join("/")
  const placeOf = () => {
    try {
      const [kind, state, id] = location.hash.replace(/^#\//, "").split("/").map(decodeURIComponent)
      return known[kind] === undefined ? {} : { kind, state: state || undefined, id: id || undefined }
    } catch {
      return {}
    }
  }
  const lookOf = (kind, state) => known[kind]?.states[state]?.look ?? "unborn"
  const chip = (kind, state, href) =>
    el(
      href === undefined ? "span" : "a",
      { class: "chip " + lookOf(kind, state), ...(href === undefined ? {} : { href }) },
      state
    )

  const two = (n) => String(n).padStart(2, "0")
  const time = (millis) => {
    const d = new Date(millis)
    return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`
  }
  const units = [
    ["d", 86400000],
    ["h", 3600000],
    ["min", 60000],
    ["s", 1000]
  ]
  const span = (millis) => {
    const [unit, size] = units.find(([, each]) => Math.abs(millis) >= each) ?? ["s", 1000]
    return `${Math.floor(Math.abs(millis) / size)} ${unit}`
  }
  const ago = (millis) =>
    millis === null ? "" : el("span", { title: time(millis), "data-since": millis }, span(asOf - millis))
  const until = (millis) => (millis > asOf ? "in " : "over for ") + span(millis - asOf)
  /* Ages are redrawn even if a response has changed nothing else. */
  const age = () => {
    for (const each of panel.querySelectorAll("[data-since]")) each.textContent = span(asOf - each.dataset.since)
    for (const each of panel.querySelectorAll("[data-until]")) each.textContent = until(Number(each.dataset.until))
  }

  const call = async (path, query) => {
    const search = new URLSearchParams(query).toString()
    const response = await fetch(`/atlas/${path}${search === "" ? "" : "?" + search}`, {
      credentials: "same-origin",
      signal: AbortSignal.timeout(10000)
    })
    if (response.status === 401) throw Object.assign(new Error("over"), { over: true })
    const data = await response.json()
    if (response.status >= 500) throw new Error(data.msg)
    return response.ok ? data : { refused: data.msg }
  }

  /* ---- pictures ---- */

  for (const figure of map.querySelectorAll("figure")) {
    const kind = figure.dataset.kind
    const picture = figure.querySelector("svg")
    figure.style.setProperty("--w", picture.getAttribute("width"))
    for (const state of picture.querySelectorAll(".state")) {
      if (state.dataset.state === "NEW") continue
      state.setAttribute("role", "link")
      state.setAttribute("tabindex", "0")
      const go = () => {
        location.hash = hrefOf(kind, state.dataset.state)
      }
      state.addEventListener("click", go)
      state.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return
        event.preventDefault()
        go()
      })
    }
  }

  /* A picture larger than its frame can be dragged with the mouse, besides scrolling. */
  let held = null
  map.addEventListener("pointerdown", (event) => {
    const { button, pointerType, target, clientX, clientY } = event
    if (button !== 0 || pointerType !== "mouse" || target.closest("svg") === null) return
    if (!map.classList.contains("one") || target.closest(".state[role]") !== null) return
    event.preventDefault()
    held = { x: clientX + map.scrollLeft, y: clientY + map.scrollTop }
  })
  addEventListener("pointermove", ({ buttons, clientX, clientY }) => {
    if ((buttons & 1) === 0) held = null
    if (held !== null) map.scrollTo(held.x - clientX, held.y - clientY)
  })

  const short = (n) =>
    n < 10000 ? String(n) : n < 1e6 ? `${Math.floor(n / 100) / 10}k` : `${Math.floor(n / 1e5) / 10}M`

  const drawCounts = (machines) => {
    for (const { name, states } of machines) {
      const figure = map.querySelector(`figure[data-kind="${name}"]`)
      if (figure === null) continue
      const total = Object.values(states).reduce((sum, n) => sum + n, 0)
      const waiting = Object.entries(states).reduce(
        (sum, [state, n]) => (lookOf(name, state) === "waiting" ? sum + n : sum),
        0
      )
      figure.querySelector(".total").textContent = waiting === 0 ? String(total) : `${waiting} waiting of ${total}`
      for (const state of figure.querySelectorAll(".state")) {
        const n = states[state.dataset.state] ?? 0
        const before = counts[name]?.[state.dataset.state] ?? 0
        state.classList.toggle("empty", n === 0)
        state.setAttribute("aria-label", `${state.dataset.state}: ${n}`)
        if (n === before && (n === 0 || state.querySelector(".count") !== null)) continue
        state.querySelector(".count")?.remove()
        if (n === 0) continue
        const box = state.querySelector("rect")
        const text = short(n)
        const width = 14 + text.length * 8
        const x = Number(box.getAttribute("x")) + Number(box.getAttribute("width")) - width + 8
        const y = Number(box.getAttribute("y")) - 9
        const count = svg("g", { class: counts[name] === undefined ? "count" : "count new" })
        count.append(
          svg("rect", { x, y, width, height: 18, rx: 9 }),
          svg("text", { x: x + width / 2, y: y + 13, "text-anchor": "middle", "font-size": 12 }, text)
        )
        state.append(count)
      }
      counts[name] = states
    }
  }

  /* ---- panel ---- */

  const owner = ({ partner, client, partnerId, clientId }) => [
    clientId === null || clientId === undefined
      ? null
      : client === null
        ? `client ${clientId}`
        : el("span", {}, el("bdi", {}, client.displayName), " ", el("span", { class: "soft" }, client.uid)),
    partnerId === null || partnerId === undefined
      ? null
      : el(
          "div",
          { class: "soft" },
          partner === null ? `partner ${partnerId}` : el("bdi", {}, `${partner.code} ${partner.name}`)
        )
  ]

  const close = (href) => el("a", { class: "close", href, "aria-label": "Close" }, "close")

  const instancesOf = ({ kind, state }, page) => {
    if (page.refused !== undefined) return [close(hrefOf(kind)), el("h2", {}, page.refused)]
    const n = counts[kind]?.[state] ?? 0
    const rows = page.instances.map((each) =>
      el(
        "tr",
        {},
        el("td", {}, el("a", { href: hrefOf(kind, state, each.id) }, each.id)),
        el("td", {}, ago(each.since)),
        el("td", {}, owner(each))
      )
    )
    return [
      close(hrefOf(kind)),
      el("h2", {}, known[kind].title, " ", chip(kind, state), ` ${n}`),
      el("p", { class: "soft" }, known[kind].states[state]?.description ?? ""),
      rows.length === 0
        ? el("p", {}, "Nobody is in this state.")
        : el(
            "table",
            {},
            el("thead", {}, el("tr", {}, el("th", {}, "id"), el("th", {}, "for"), el("th", {}, "of"))),
            el("tbody", {}, rows)
          ),
      pages.length > 1 || page.hasMore
        ? el(
            "p",
            { class: "soft" },
            `Page ${pages.length} of about ${Math.max(pages.length, Math.ceil(n / page.size))}, oldest first.`
          )
        : null,
      pages.length > 2
        ? button("first page", () => {
            pages = [null]
          })
        : null,
      pages.length > 1
        ? button("page before", () => {
            pages.pop()
          })
        : null,
      page.hasMore
        ? button("next page", () => {
            pages.push(page.nextAfter)
          })
        : null
    ]
  }

  const button = (text, act) => {
    const made = el("button", { type: "button" }, text)
    made.addEventListener("click", () => {
      act()
      show(true)
    })
    return made
  }

  const codes = (texts) => texts.flatMap((text, index) => [index === 0 ? "" : ", ", el("code", {}, text)])

  const stepOf = (kind, step) =>
    el(
      "li",
      {},
      el(
        "div",
        {},
        el("time", { datetime: new Date(step.at).toISOString() }, time(step.at)),
        " ",
        step.from === null || step.from === step.to ? null : [chip(kind, step.from), " → "],
        step.to === null ? null : chip(kind, step.to)
      ),
      el(
        "div",
        {},
        el("b", {}, step.event ?? step.actions.join(", ")),
        step.guard === "" ? "" : ` [${step.guard}]`,
        step.by === null ? "" : [" by ", el("bdi", {}, step.by)]
      ),
      step.reason === null ? null : el("div", {}, el("bdi", {}, shortPrints(step.reason))),
      step.effects.length === 0 ? null : el("div", { class: "soft" }, codes(step.effects)),
      step.requestId === null ? null : el("div", { class: "soft" }, "request ", el("code", {}, step.requestId))
    )

  /** Shortens fingerprints to their first eight digits, which suffice to distinguish them. */
  const shortPrints = (line) => line.replaceAll(/\b([0-9a-f]{8})[0-9a-f]{56}\b/gi, "$1…")

  const moverOf = ({ by, does, roles, secondKey }) =>
    by === "operator"
      ? el(
          "div",
          {},
          el("code", {}, `brokerage ${does}`),
          el("span", { class: "soft" }, ` (${roles.join(", ")}${secondKey ? "; then a second key grants it" : ""})`)
        )
      : by === "partner"
        ? el("div", {}, "the partner: ", el("code", {}, does))
        : by === "timer"
          ? el("div", {}, "the timer ", el("code", {}, does))
          : el("div", {}, by === "venue" ? "the venue: " : "the service: ", does)

  const objectOf = ({ kind, state }, object) => {
    if (object.refused !== undefined) return [close(hrefOf(kind, state)), el("h2", {}, object.refused)]
    const last = object.path.findLast(({ to, from }) => to !== null && to !== from)
    const moves = new Map()
    for (const move of object.next) {
      const key = `${move.event} ${move.to}`
      const entry = moves.get(key) ?? { ...move, guards: [] }
      if (move.guard !== "") entry.guards.push(move.guard)
      moves.set(key, entry)
    }
    return [
      close(hrefOf(kind, state)),
      el("h2", {}, `${known[kind].title} ${object.id} `, chip(kind, object.state, hrefOf(kind, object.state))),
      el(
        "p",
        { class: "soft" },
        known[kind].states[object.state]?.description ?? "",
        last === undefined ? "" : ["  For ", ago(last.at), "."]
      ),
      el("div", {}, owner(object.owner)),
      el("h3", {}, "The way so far"),
      object.hasMore
        ? el(
            "p",
            { class: "soft" },
            "Only the last steps: more with ",
            el("code", {}, `brokerage machine inspect ${kind} ${object.id} --before ${object.nextBefore}`)
          )
        : null,
      object.path.length === 0
        ? el("p", {}, "Nothing is written down of it.")
        : el(
            "ol",
            {},
            object.path.map((step) => stepOf(kind, step))
          ),
      el("h3", {}, "What can happen next"),
      moves.size === 0
        ? el("p", {}, "Nothing: this state is final.")
        : el(
            "table",
            {},
            el(
              "tbody",
              {},
              [...moves.values()].map((move) =>
                el(
                  "tr",
                  {},
                  el(
                    "td",
                    {},
                    el("b", {}, move.event),
                    move.guards.length === 0
                      ? ""
                      : el("div", { class: "soft" }, move.guards.map((guard) => `[${guard}]`).join(" or "))
                  ),
                  el("td", {}, move.to === object.state ? el("span", { class: "soft" }, "stays") : chip(kind, move.to)),
                  el("td", {}, move.movers.map(moverOf))
                )
              )
            )
          ),
      el("h3", {}, "Timers"),
      object.timers.length === 0
        ? el("p", {}, "None is due.")
        : el(
            "table",
            {},
            el(
              "tbody",
              {},
              object.timers.map(({ name, dueAt }) =>
                el(
                  "tr",
                  {},
                  el("td", {}, el("code", {}, name)),
                  el("td", {}, time(dueAt)),
                  el("td", { "data-until": dueAt }, until(dueAt))
                )
              )
            )
          ),
      object.calls.length === 0
        ? null
        : [
            el("h3", {}, "Calls of the venue in flight"),
            el(
              "table",
              {},
              el(
                "tbody",
                {},
                object.calls.map(({ ref, call: name, at, found }) =>
                  el(
                    "tr",
                    {},
                    el("td", {}, el("code", {}, name)),
                    el("td", {}, el("code", {}, ref)),
                    el("td", {}, ago(at)),
                    el("td", {}, found)
                  )
                )
              )
            )
          ],
      el("h3", {}, "Related"),
      object.related.length === 0
        ? el("p", {}, "Nothing that is held together with it.")
        : el(
            "table",
            {},
            el(
              "tbody",
              {},
              object.related.map((each) =>
                el(
                  "tr",
                  {},
                  el("td", {}, known[each.kind].title),
                  el("td", {}, el("a", { href: hrefOf(each.kind, each.state, each.id) }, each.id)),
                  el("td", {}, chip(each.kind, each.state))
                )
              )
            )
          ),
      el(
        "details",
        {},
        el("summary", {}, "Context"),
        el(
          "pre",
          {},
          ...JSON.stringify(object.context, null, 2)
            .split("\n")
            .flatMap((line, index) => (index === 0 ? [line] : [document.createTextNode("\n"), line]))
        )
      )
    ]
  }

  /* Redraws the panel only if its data has changed, so that focus, scroll position and selection stay. */
  const fill = (key, data, children) => {
    const text = JSON.stringify([key, pages, data])
    panel.hidden = children === null
    if (text === drawn) return
    const same = panel.dataset.key === key
    const top = panel.scrollTop
    const focused =
      same && panel.contains(document.activeElement)
        ? [...panel.querySelectorAll("a,button,summary")].indexOf(document.activeElement)
        : -1
    const open = same && panel.querySelector("details")?.open === true
    panel.replaceChildren(...(children ?? []).flat().filter((child) => child !== null))
    drawn = text
    panel.dataset.key = key
    if (!same) {
      panel.scrollTop = 0
      if (children !== null) panel.focus({ preventScroll: true })
      return
    }
    panel.scrollTop = top
    if (open) panel.querySelector("details").open = true
    if (focused >= 0) [...panel.querySelectorAll("a,button,summary")][focused]?.focus({ preventScroll: true })
  }

  const mark = ({ kind, state }, object) => {
    for (const node of map.querySelectorAll(".here, .gone, .next")) node.classList.remove("here", "gone", "next")
    const figure = kind === undefined ? null : map.querySelector(`figure[data-kind="${kind}"]`)
    if (figure === null) return
    const here = object?.state ?? state
    for (const node of figure.querySelectorAll(".state")) {
      node.classList.toggle("here", node.dataset.state === here)
      if (node.dataset.state === here && map.dataset.seen !== `${kind} ${here}`) {
        map.dataset.seen = `${kind} ${here}`
        node.scrollIntoView({ block: "nearest", inline: "center" })
      }
    }
    for (const arrow of figure.querySelectorAll(".arrow[data-from]")) {
      const { from, to } = arrow.dataset
      arrow.classList.toggle(
        "gone",
        object?.path?.some((step) => step.to === to && (step.from ?? "NEW") === from) === true
      )
      arrow.classList.toggle("next", object?.next?.some((move) => move.to === to && from === object.state) === true)
    }
  }

  /* ---- showing and following ---- */

  /* A sentence on the coverage of a machine's transitions, which also explains the styles of the lines. */
  const triedOf = (kind) => {
    const [played, otherwise, table] = known[kind].trials
    return [
      `Of its ${played + otherwise + table} transitions scenarios go through ${played}`,
      otherwise === 0 ? null : `, only the simulation or tests through ${otherwise} (dashed, in italics)`,
      table === 0 ? null : `, only rows of their table through ${table} (dotted, in italics)`,
      "; point at one to see which."
    ]
  }

  const arrange = (place) => {
    const { kind, state, id } = place
    delete map.dataset.seen
    if (map.querySelector("figure.shown")?.dataset.kind !== kind) map.scrollTo(0, 0)
    map.classList.toggle("one", kind !== undefined)
    for (const figure of map.querySelectorAll("figure")) figure.classList.toggle("shown", figure.dataset.kind === kind)
    map.querySelector(".meaning")?.remove()
    if (kind !== undefined) map.prepend(el("p", { class: "meaning" }, known[kind].meaning, " ", triedOf(kind)))
    byId("where").replaceChildren(
      ...(kind === undefined
        ? ["All machines"]
        : [
            el("a", { href: hrefOf(kind) }, known[kind].title),
            state === undefined ? "" : ` / ${state}`,
            id === undefined ? "" : clean(` / ${id}`)
          ])
    )
    document.title = [id, state, kind === undefined ? "Atlas" : known[kind].title]
      .filter(Boolean)
      .map(clean)
      .join(" - ")
  }

  const say = (text) => {
    byId("trouble").hidden = text === null
    if (text !== null) byId("trouble").textContent = text
  }

  const look = async () => {
    const place = placeOf()
    const key = location.hash
    const { machines, role, asOf: now } = await call("counts")
    asOf = now
    byId("as").textContent = role
    drawCounts(machines)
    const data =
      place.id !== undefined
        ? await call("object", { kind: place.kind, id: place.id })
        : place.state !== undefined
          ? await call("instances", {
              kind: place.kind,
              state: place.state,
              ...(pages.at(-1) === null ? {} : { after: pages.at(-1) })
            })
          : null
    /* The view may have changed while the request was in flight. */
    if (key !== location.hash) return
    fill(key, data, data === null ? null : place.id === undefined ? instancesOf(place, data) : objectOf(place, data))
    age()
    mark(place, place.id === undefined || data === null || data.refused !== undefined ? null : data)
  }

  let timer
  let running = false
  let again = false
  const show = async (now) => {
    clearTimeout(timer)
    if (location.hash !== shown) {
      shown = location.hash
      pages = [null]
      arrange(placeOf())
      if (placeOf().state === undefined) fill(shown, null, null)
    }
    if (running) {
      again = now === true
      return
    }
    running = true
    let over = false
    try {
      await look()
      failures = 0
      say(null)
    } catch (error) {
      over = error.over === true
      failures++
      say(
        over
          ? "This session is over: `brokerage atlas` prints a new link."
          : "The service does not answer; what is shown is as it was last heard. It is asked again."
      )
    }
    running = false
    if (again) {
      again = false
      return show(true)
    }
    const pause =
      failures === 0 ? pollMillis : Math.min(longestPauseMillis, pollMillis * 2 ** Math.min(failures - 1, 3))
    if (!over && (follow.checked || failures > 0))
      timer = setTimeout(() => (document.hidden ? undefined : show()), pause)
  }

  addEventListener("hashchange", () => show(true))
  document.addEventListener("visibilitychange", () => (document.hidden ? undefined : show(true)))
  follow.addEventListener("change", () => show(true))
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return
    const { kind, state, id } = placeOf()
    if (kind !== undefined)
      location.hash = id !== undefined ? hrefOf(kind, state) : state !== undefined ? hrefOf(kind) : "#/"
  })
  show(true)
})()

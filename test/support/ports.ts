// Free ports on loopback for programs that cannot pick one themselves; two test processes never get the same one.
import dgram from 'node:dgram'
import net from 'node:net'

// Below the ephemeral range of Linux (32768), so that an outgoing connection never takes one in between.
const first = 20_000
const last = 31_999
const cellPorts = 16

// A process owns a cell while it holds the TCP port that the cell begins with: between finding ports free and a child
// binding them, another test process would find them free as well.
const guards = new Map<number, net.Server>()
/** The guards of programs that run until the process ends. */
const kept = new Map<number, net.Server>()
const cells = Array.from(
  { length: Math.floor((last - first) / cellPorts) },
  (_, index) => first + index * cellPorts,
)
// Spreads the processes over the range, as neighbours have neighbouring ids.
let next = Math.imul(process.pid, 0x9e37_79b1) >>> 0

/** Returns the first of `count` consecutive ports. UDP is free on all of them, TCP on the first 15. */
export async function freePorts(count: number, { outlastsFile = false } = {}): Promise<number> {
  const wanted = Math.ceil((count + 1) / cellPorts)
  for (const mayReuse of [false, true]) {
    for (let attempt = 0; attempt < cells.length; attempt += 1) {
      const at = next++ % cells.length
      const claim = cells.slice(at, at + wanted)
      if (claim.length !== wanted || !(await take(claim, mayReuse)) || !(await areFree(claim, count)))
        continue
      if (outlastsFile) keep(claim)
      return (claim[0] ?? 0) + 1
    }
  }
  throw new Error(`no ${count} free ports between ${first} and ${last}`)
}

/** Releases every cell of this process, once the programs on its ports have ended. */
export async function releasePorts(): Promise<void> {
  const held = [...guards.values()]
  guards.clear()
  await Promise.all(held.map(closed))
}

function keep(cells: readonly number[]): void {
  for (const cell of cells) {
    const guard = guards.get(cell)
    guards.delete(cell)
    if (guard !== undefined) kept.set(cell, guard)
  }
}

/** Claims the cells. Cells that this process already holds are used again only if no others are left. */
async function take(claim: readonly number[], mayReuse: boolean): Promise<boolean> {
  for (const cell of claim) {
    if (kept.has(cell)) return false
    if (guards.has(cell)) {
      if (!mayReuse) return false
      continue
    }
    const guard = await listen(cell)
    if (guard === undefined) return false
    guards.set(cell, guard)
  }
  return true
}

async function areFree([cell = 0]: readonly number[], count: number): Promise<boolean> {
  const ports = Array.from({ length: count }, (_, index) => cell + 1 + index)
  const free = await Promise.all([
    ...ports.map(udpIsFree),
    ...ports.slice(0, cellPorts - 1).map(async (port) => {
      const server = await listen(port)
      return server !== undefined && (await closed(server))
    }),
  ])
  return free.every(Boolean)
}

function listen(port: number): Promise<net.Server | undefined> {
  return new Promise((resolve) => {
    const server = net.createServer((socket) => socket.destroy()).unref()
    server.once('error', () => resolve(undefined))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server))
  })
}

function closed(server: net.Server): Promise<true> {
  return new Promise((resolve) => server.close(() => resolve(true)))
}

function udpIsFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dgram.createSocket('udp4')
    socket.once('error', () => resolve(false))
    socket.bind(port, '127.0.0.1', () => socket.close(() => resolve(true)))
  })
}

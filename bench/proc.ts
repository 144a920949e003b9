// Figures of the kernel about a process: CPU time by thread, resident memory, open descriptors. Linux only.
import { readFileSync, readdirSync } from 'node:fs'

// USER_HZ, the unit of /proc/<pid>/stat; 100 on every Linux that Node runs on.
const ticksPerSecond = 100

function cpuMs(path: string): number {
  const text = readFileSync(path, 'utf8')
  // The name in parentheses may contain spaces, so fields are counted from behind it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1000
}

/** Returns the CPU time of the thread that runs JavaScript's main loop, user and system. */
export function mainThreadCpuMs(pid: number): number {
  return cpuMs(`/proc/${pid}/task/${pid}/stat`)
}

/** Returns the CPU time of all threads. */
export function processCpuMs(pid: number): number {
  return cpuMs(`/proc/${pid}/stat`)
}

/** Returns how long the threads whose names begin with `name` ran, and how long they were ready without a processor. */
export function threadsMs(pid: number | 'self', name: string): { cpu: number; waited: number } {
  const sum = { cpu: 0, waited: 0 }
  for (const task of readdirSync(`/proc/${pid}/task`).map((id) => `/proc/${pid}/task/${id}`)) {
    if (!readFileSync(`${task}/comm`, 'utf8').startsWith(name)) continue
    const [ran, waited] = readFileSync(`${task}/schedstat`, 'utf8').split(' ')
    sum.cpu += Number(ran) / 1e6
    sum.waited += Number(waited) / 1e6
  }
  return sum
}

export function residentMb(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(match?.[1]) / 1024
}

export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

/** Returns the datagrams that the kernel dropped since the socket was opened, because its receive buffer was full. */
export function lostDatagrams(port: number): number {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = readFileSync('/proc/net/udp', 'utf8').split('\n')
  const fields = lines
    .map((line) => line.trim().split(/\s+/))
    .find((line) => line[1]?.endsWith(suffix) === true)
  return Number(fields?.at(-1) ?? 0)
}

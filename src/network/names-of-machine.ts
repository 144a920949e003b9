// The machine's own configuration of names: its hosts file, and the domains that complete short names.
import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { platform } from 'node:os'
import type { Clock } from '../lib/clock.ts'

export interface MachineNames {
  readonly hosts: ReadonlyMap<string, readonly string[]>
  /** The `search` of resolv.conf: tried before a name with fewer dots than `ndots`, and after any other. */
  readonly search: readonly string[]
  readonly ndots: number
}

export interface MachineFiles {
  readonly hosts: string
  readonly resolver: string
}

export const systemFiles: MachineFiles =
  platform() === 'win32'
    ? { hosts: 'C:\\Windows\\System32\\drivers\\etc\\hosts', resolver: '' }
    : { hosts: '/etc/hosts', resolver: '/etc/resolv.conf' }

// An edited hosts file takes effect by the time its author has switched windows.
const lookAgainMs = 2000
// The C library has the same limit.
const maxSearchDomains = 6

/** Reads the files when they are first needed, and again after they have changed. */
export function createMachineNames(files: MachineFiles, clock: Clock): () => Promise<MachineNames> {
  const hosts = createWatched(files.hosts, parseHosts)
  const resolver = createWatched(files.resolver, parseResolver)
  let lookedAt = Number.NEGATIVE_INFINITY
  let current: Promise<MachineNames> | undefined
  return () => {
    if (current !== undefined && clock.monotonic() - lookedAt < lookAgainMs) return current
    lookedAt = clock.monotonic()
    current = Promise.all([hosts(), resolver()]).then(([known, rules]) => ({ hosts: known, ...rules }))
    return current
  }
}

/** Returns the parsed content of a file, read again when its stamp changes. A missing file is empty. */
function createWatched<T>(path: string, parse: (text: string) => T): () => Promise<T> {
  let stamp = ''
  let value = parse('')
  return async () => {
    const now = await stat(path).then(
      ({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`,
      () => '',
    )
    if (now === stamp) return value
    value = parse(now === '' ? '' : await readFile(path, 'utf8').catch(() => ''))
    stamp = now
    return value
  }
}

export function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (isIP(address) === 0) continue
    for (const name of names) {
      const key = name.toLowerCase().replace(/\.$/, '')
      const known = hosts.get(key)
      if (known === undefined) hosts.set(key, [address])
      else if (!known.includes(address)) known.push(address)
    }
  }
  return hosts
}

/** Parses resolv.conf(5). The last of `search` and `domain` counts. */
export function parseResolver(text: string): Omit<MachineNames, 'hosts'> {
  let search: readonly string[] = []
  let ndots = 1
  for (const line of text.split('\n')) {
    const [word = '', ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/)
    if (word === 'search' || word === 'domain') search = values.map((value) => value.replace(/\.$/, ''))
    const given = word === 'options' ? values.find((value) => /^ndots:\d{1,2}$/.test(value)) : undefined
    if (given !== undefined) ndots = Math.min(15, Number(given.slice('ndots:'.length)))
  }
  return { search: search.filter((domain) => domain !== '').slice(0, maxSearchDomains), ndots }
}

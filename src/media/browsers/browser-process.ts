// The entry of the process of browsers, separate because of a native library: a crash of the library ends paths, and
// not the platform. Ends with its parent.
import process from 'node:process'
import { systemClock } from '../../lib/clock.ts'
import { BrowserHost } from './browser-host.ts'
import type { ToBrowsers } from './messages.ts'

const host = new BrowserHost({
  createPeers: async (at) => (await import('./data-channel-peers.ts')).createDataChannelPeers(at),
  clock: systemClock,
  post: (message) => void process.send?.(message),
})
// A terminal sends signals to all its processes, but the parent decides when calls end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.on('disconnect', () => {
  host.stop()
  process.exit(0)
})
// Both ends of this channel belong to one version of the platform, so the types of messages.ts hold without a check.
process.on('message', (message) => void host.accept(message as ToBrowsers))

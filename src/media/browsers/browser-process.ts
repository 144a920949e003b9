// The entry of the process of browsers, which a native library has to itself: what makes that end its process ends paths, and
// no platform. Ends with its parent.
import process from 'node:process'
import { systemClock } from '../../lib/clock.ts'
import { BrowserHost } from './browser-host.ts'
import type { ToBrowsers } from './messages.ts'

const host = new BrowserHost({
  createPeers: async (at) => (await import('./data-channel-peers.ts')).createDataChannelPeers(at),
  clock: systemClock,
  post: (message) => void process.send?.(message),
})
// A terminal signals all that runs in it: when calls end is the parent's to decide.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.on('disconnect', () => {
  host.stop()
  process.exit(0)
})
// Both ends of this channel are ours and of one version: the types of messages.ts hold without a check.
process.on('message', (message) => void host.accept(message as ToBrowsers))

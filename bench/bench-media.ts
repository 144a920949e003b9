// Media for a measurement: one worker on loopback, the offers of phones, and the worker's use of a processor.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '../src/lib/log.ts'
import { createMedia } from '../src/media/create-media.ts'
import type { Media, MediaOptions } from '../src/media/media.ts'
import { toInline } from '../src/media/sdp/crypto-lines.ts'
import type { MasterKey } from '../src/media/srtp/suites.ts'
import { threadsMs } from './proc.ts'

export interface BenchMedia {
  /** The media, not started yet. */
  readonly media: Media
  /** A directory for files of the measurement; it is removed with the media. */
  readonly directory: string
  close(): Promise<void>
}

/** `ports` is the number of ports from the first on; a session takes two. */
export async function createBenchMedia(
  firstPort: number,
  ports: number,
  options: Partial<Pick<MediaOptions, 'createProcess'>> = {},
): Promise<BenchMedia> {
  const directory = await mkdtemp(join(tmpdir(), 'media-bench-'))
  const media = createMedia({
    bind: '127.0.0.1',
    publicAddress: undefined,
    ports: { first: firstPort, last: firstPort + ports - 1 },
    workers: 1,
    limits: { mediaMs: 0, heldMs: 0 },
    scratchDir: join(directory, 'scratch'),
    log: silentLogger,
    ...options,
  })
  return {
    media,
    directory,
    async close() {
      await media.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Returns the offer of a phone. `keys` are those that the phone will send with; without them it is plain RTP. */
export function offerOf(port: number, payloadType: number, keys?: MasterKey): string {
  const media = `m=audio ${port} RTP/${keys === undefined ? 'AVP' : 'SAVP'} ${payloadType} 101\r\na=rtpmap:101 telephone-event/8000\r\n`
  const crypto = keys === undefined ? '' : `a=crypto:1 ${keys.suite} ${toInline(keys, false)}\r\n`
  return `v=0\r\no=bench 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n${media}${crypto}`
}

/**
 * Returns the kernel's figures for the media worker: how long it ran, and how long it was ready without a processor.
 */
export function workerMs(): { cpu: number; waited: number } {
  // A test directly from phone to phone has no media worker.
  return threadsMs('self', 'media-')
}

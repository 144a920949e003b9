// Applications that hear their calls over a second WebSocket, and speak in them: the audio server of the library.
import { createServer } from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { toneShare, type Audio } from '../support/audio.ts'
import { listenLocally } from '../support/local-http.ts'
import { Inbox, until } from '../support/wait.ts'
import {
  sdkWebSocket,
  type AudioService,
  type AudioStream,
  type SdkSession,
  type WsService,
} from './libraries.ts'
import type { Customer, Stage } from './stage.ts'

const sampleRate = 8000

/** Returns the last 200 ms of mono L16. */
function newest(frames: readonly Buffer[]): Audio {
  const bytes = Buffer.concat(frames.slice(-40)).subarray(-sampleRate * 0.4)
  const samples = Float64Array.from({ length: Math.floor(bytes.length / 2) }, (_, at) => {
    return bytes.readInt16LE(at * 2) / 32_768
  })
  return { sampleRate, samples }
}

export function audioStreams(stage: () => Stage): void {
  describe('@jambonz/sdk, sound over WebSocket', () => {
    let service: WsService<SdkSession>
    let sound: AudioService
    let customer: Customer
    const streams = new Inbox<AudioStream>()
    const heard: Buffer[] = []
    const marks = new Inbox<{ name: string; event: string }>()
    let begin: (session: SdkSession) => void

    beforeAll(async () => {
      const server = createServer()
      const listening = await listenLocally(server)
      stage().closes(listening)
      const makeService = sdkWebSocket.createEndpoint({ server })
      service = makeService({ path: '/app' })
      service.on('session:new', (session) => begin(session))
      sound = makeService.audio({ path: '/audio' })
      sound.on('connection', (stream) => {
        stream.on('audio', (pcm) => heard.push(pcm))
        stream.on('mark', (mark) => marks.push(mark))
        streams.push(stream)
      })
      const hook = { url: `${listening.url.replace('http:', 'ws:')}/app`, method: 'POST' }
      customer = await stage().customer({ call: hook, status: hook })
    })

    it('a stream carries what the caller says, and what the application says back, until that disconnects', async () => {
      begin = (session) =>
        session
          .answer()
          .stream({
            url: '/audio',
            sampleRate,
            mixType: 'mono',
            metadata: { purpose: 'echo' },
            bidirectionalAudio: { enabled: true, streaming: true, sampleRate },
          })
          .hangup()
          .send()
      const phone = await stage().phone()
      const talk = await phone.call(stage().platform, customer)
      talk.says(400)
      const stream = await streams.next('the stream', () => true)
      expect(stream).toMatchObject({ sampleRate, metadata: { mixType: 'mono', purpose: 'echo' } })
      await until('the caller in the stream', () => toneShare(newest(heard), 400) > 0.8)
      stream.on('audio', (pcm) => stream.sendAudio(pcm))
      await talk.hears(400)
      stream.sendMark('echoed')
      const mark = await marks.next('the mark', ({ name }) => name === 'echoed')
      expect(mark.event).toBe('playout')
      stream.disconnect()
      expect(await talk.end()).not.toBe('failed')
    })
  })
}

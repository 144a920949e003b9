// "Record me" over WebSocket audio: callers hear their words after the beep. Run it: `npm run example -- record-me`.
import type { WebSocket } from 'ws'
import type { Example } from './run/example.ts'

const sampleRate = 16_000
const maxSeconds = 30

export const recordMe: Example = {
  users: ['anna'],
  takesCalls: true,
  howTo: () => [
    'Dial 500 from the phone of anna, and speak after the beep.',
    `Press # when you have finished, within ${maxSeconds} seconds: you hear what you have said.`,
  ],
  create: () => ({
    hooks: {
      '/call': () => [
        {
          verb: 'listen',
          url: '/record-me',
          sampleRate,
          passDtmf: true,
          playBeep: true,
          actionHook: '/heard',
        },
      ],
      '/heard': () => [{ verb: 'say', text: 'That was you. Goodbye.' }, { verb: 'hangup' }],
    },
    sockets: { '/record-me': recordAndPlay },
  }),
}

/** Keeps the audio until a key is pressed or the limit is reached, plays it, and ends the stream after that. */
function recordAndPlay(socket: WebSocket): void {
  const maxBytes = maxSeconds * sampleRate * 2
  const pieces: Buffer[] = []
  let bytes = 0
  let isPlaying = false
  const say = (message: object): void => socket.send(JSON.stringify(message))
  const play = (): void => {
    if (isPlaying) return
    isPlaying = true
    const audioContent = Buffer.concat(pieces).toString('base64')
    say({ type: 'playAudio', data: { audioContent, audioContentType: 'raw', sampleRate, id: 'you' } })
  }
  socket.on('message', (data: Buffer, isBinary) => {
    if (!isBinary) {
      const message = JSON.parse(data.toString()) as { readonly event?: string; readonly type?: string }
      if (message.event === 'dtmf') play()
      if (message.type === 'playDone') say({ type: 'disconnect' })
      return
    }
    if (isPlaying) return
    pieces.push(data)
    bytes += data.length
    if (bytes >= maxBytes) play()
  })
}

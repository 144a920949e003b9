// An echo over WebSocket audio: callers hear themselves, a moment later. Run it with `npm run example -- echo`.
import type { Example } from './run/example.ts'

export const echo: Example = {
  users: ['anna'],
  takesCalls: true,
  howTo: () => ['Dial 500 from the phone of anna and speak: you hear yourself.', 'Press # to end it.'],
  create: () => ({
    hooks: {
      '/call': () => [
        {
          verb: 'listen',
          url: '/echo',
          finishOnKey: '#',
          bidirectionalAudio: { enabled: true, streaming: true, sampleRate: 8000 },
          actionHook: '/heard',
        },
      ],
      '/heard': () => [{ verb: 'say', text: 'That was you. Goodbye.' }, { verb: 'hangup' }],
    },
    sockets: {
      // The first frame is text that identifies the call; all others are the audio of the caller.
      '/echo': (socket) =>
        void socket.on('message', (data: Buffer, isBinary) => {
          if (isBinary) socket.send(data)
        }),
    },
  }),
}

// A conference with a moderator: earlier callers wait for the moderator, and all leave when the moderator hangs up.
// Run it with `npm run example -- conference`.
import { toneWav } from './hello.ts'
import { text, type Example, type Verb } from './run/example.ts'

/** The tone for waiting callers. */
export const waitingHz = 425

export const goodbye = 'The moderator has left, and the conference is over. Goodbye.'

const room: Verb = {
  verb: 'conference',
  name: 'weekly',
  beep: true,
  statusHook: '/events',
  statusEvents: ['start', 'end', 'join', 'leave', 'start-talking', 'stop-talking'],
  actionHook: '/left',
}

export const conference: Example = {
  users: ['moderator', 'anna', 'ben'],
  takesCalls: true,
  howTo: () => [
    'Dial 500 from the phones of anna and ben: they wait, and hear a tone now and then.',
    'Dial 500 from the phone of moderator: the conference begins, and all three talk.',
    'Hang up at the moderator: the others hear that it is over.',
  ],
  create({ url }) {
    return {
      hooks: {
        '/call': ({ from }) => [
          text(from) === 'moderator'
            ? { ...room, endConferenceOnExit: true }
            : { ...room, startConferenceOnEnter: false, waitHook: '/wait' },
        ],
        // This hook is asked again whenever its verbs have run, until the conference begins.
        '/wait': () => [
          { verb: 'play', url: `${url}/waiting.wav` },
          { verb: 'pause', length: 1 },
        ],
        // These events are for information only, for example for a wallboard.
        '/events': ({ event, from, members }) => {
          console.log(`${text(event)}: ${text(from)} (${String(members)} in the room)`)
          return []
        },
        '/left': () => [{ verb: 'say', text: goodbye }, { verb: 'hangup' }],
      },
      pages: {
        'GET /waiting.wav': () => ({
          type: 'audio/wav',
          body: toneWav({ hz: waitingHz, ms: 300, silentMs: 700 }),
        }),
      },
    }
  },
}

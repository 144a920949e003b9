// A menu that connects callers: one for sales, two for support. Run it with `npm run example -- ivr`.
import { toneWav } from './hello.ts'
import { text } from './run/example.ts'
import type { Example, Verb } from './run/example.ts'

/** Which user takes the calls of which key. */
const departments: Readonly<Record<string, string>> = { 1: 'sales', 2: 'support' }

/** Pressed by sales while it talks: the caller goes on to support. */
export const transferKeys = '*2'

const menu: Verb = {
  verb: 'gather',
  input: ['digits'],
  numDigits: 1,
  timeout: 8,
  say: { text: 'For sales, press one. For support, press two.' },
  actionHook: '/choice',
}

const say = (words: string): Verb => ({ verb: 'say', text: words })

export const ivr: Example = {
  users: ['caller', 'sales', 'support'],
  takesCalls: true,
  howTo: () => [
    'Dial 500 from the phone of caller, and press 1 for sales or 2 for support.',
    `While the two talk, press ${transferKeys} on the phone of sales: the caller goes on to support.`,
    'Dial sales or support: it rings there at once, and your call is answered together with it.',
  ],
  create({ url, api }) {
    /** The two hear each other when the department answers; meanwhile the caller hears that it rings. */
    const dial = (department: string, isAnswered: boolean): Verb => ({
      verb: 'dial',
      target: [{ type: 'user', name: department }],
      timeout: 20,
      // A caller who has heard the menu is answered already, and hears a tone. Another one hears what its phone makes
      // of "180 Ringing", and pays from the moment on at which the department answers.
      ...(isAnswered ? { dialMusic: `${url}/ringing.wav` } : { answerOnBridge: true }),
      dtmfCapture: { childCall: [transferKeys] },
      dtmfHook: '/keys',
      actionHook: '/dialled',
    })
    return {
      hooks: {
        '/call': ({ to }) => {
          const direct = Object.values(departments).find((department) => department === to)
          return direct === undefined ? [menu] : [dial(direct, false)]
        },
        '/choice': ({ digits }) => {
          const department = departments[text(digits)]
          if (department === undefined) return [say('That is no choice.'), menu]
          return [say(`You will be connected with ${department}.`), dial(department, true)]
        },
        // Keys are only reported here: what is to happen is asked for by the REST API, of the caller's call.
        '/keys': async ({ parent_call_sid }) => {
          await api('PUT', `/Calls/${text(parent_call_sid)}`, {
            call_hook: { url: `${url}/transfer`, method: 'POST' },
          })
          return []
        },
        '/transfer': () => [say('One moment. Support will go on with you.'), dial('support', true)],
        '/dialled': ({ dial_call_status }) =>
          dial_call_status === 'completed'
            ? [{ verb: 'hangup' }]
            : [say('The call was not taken. Please try it later.'), { verb: 'hangup' }],
      },
      pages: {
        'GET /ringing.wav': () => ({
          type: 'audio/wav',
          body: toneWav({ hz: 425, ms: 1000, silentMs: 4000 }),
        }),
      },
    }
  },
}

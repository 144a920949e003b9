// A menu that connects callers: one for sales, two for support. Run it with `npm run example -- ivr`.
import { toneWav } from './hello.ts'
import { text, type Example, type Verb } from './run/example.ts'

/** The user who takes the calls for each key. */
const departments: Readonly<Record<string, string>> = { 1: 'sales', 2: 'support' }

/** The keys that sales presses during a call to transfer the caller to support. */
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
    /** Returns a dial. The two sides are connected when the department answers; the caller hears ringing until then. */
    const dial = (department: string, isAnswered: boolean): Verb => ({
      verb: 'dial',
      target: [{ type: 'user', name: department }],
      timeout: 20,
      // A caller who has heard the menu is already answered, and hears a tone. Another caller hears the ringing of its
      // own phone for "180 Ringing", and pays only from the moment when the department answers.
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
        // Keys are only reported here. The action is requested through the REST API, for the caller's call.
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

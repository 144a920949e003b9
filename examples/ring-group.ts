// A ring group: all phones ring at the same time, and when none is answered, an announcement says so.
// Run it with `npm run example -- ring-group`.
import type { Example, Verb } from './run/example.ts'

const members = ['anna', 'ben', 'chris']

/** The time for which the phones ring, in seconds. */
export const ringSeconds = 15

export const announcement = 'The office is closed at the moment. Please call again tomorrow. Goodbye.'

const ring: Verb = {
  verb: 'dial',
  target: members.map((name) => ({ type: 'user', name })),
  // The caller is answered together with the first phone, and hears ringing until then.
  answerOnBridge: true,
  timeout: ringSeconds,
  actionHook: '/rang',
}

export const ringGroup: Example = {
  users: ['caller', ...members],
  takesCalls: true,
  howTo: () => [
    'Dial 500 from the phone of caller: the others ring, and the first to answer talks with it.',
    `When each is rejected, or none is taken for ${ringSeconds} seconds, the caller hears an announcement.`,
  ],
  create: () => ({
    hooks: {
      '/call': () => [ring],
      '/rang': ({ dial_call_status }) =>
        dial_call_status === 'completed'
          ? [{ verb: 'hangup' }]
          : [{ verb: 'say', text: announcement }, { verb: 'hangup' }],
    },
  }),
}

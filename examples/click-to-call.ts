// Click to call: a page calls the agent first; when the agent answers, it calls the customer and connects the two.
// Run it with `npm run example -- click-to-call`.
import { text, type Example, type Page, type Payload } from './run/example.ts'

const callerId = '500'

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Click to call - Switchhook</title>
    <link rel="stylesheet" href="/page.css" />
  </head>
  <body>
    <main>
      <h1>Click to call</h1>
      <p class="note">
        The phone of the agent rings first. When it is answered, the customer is called, and the two talk. Both are
        users of the example, or numbers.
      </p>
      <form>
        <label for="customer">Customer</label>
        <input id="customer" value="customer" autocomplete="off" required />
        <label for="agent">Agent</label>
        <input id="agent" value="agent" autocomplete="off" required />
        <button class="main">Call</button>
      </form>
      <p id="answer" role="status"></p>
    </main>
    <script>
      const part = (id) => document.getElementById(id)
      const say = (text) => {
        part('answer').className = 'state'
        part('answer').textContent = text
      }
      document.querySelector('form').addEventListener('submit', async (event) => {
        event.preventDefault()
        const agent = part('agent').value
        const body = JSON.stringify({ agent, customer: part('customer').value })
        const headers = { 'content-type': 'application/json' }
        try {
          const response = await fetch('/click', { method: 'POST', headers, body })
          const { sid, msg, cure } = await response.json()
          say(response.ok ? 'The platform calls ' + agent + ' (call ' + sid + ').' : [msg, cure].filter(Boolean).join('. '))
        } catch {
          say('The example does not respond.')
        }
      })
    </script>
  </body>
</html>
`

const json = (status: number, body: object): Page => ({
  status,
  type: 'application/json',
  body: `${JSON.stringify(body)}\n`,
})

/** Returns the target of a dial: a number is called over the account's carriers, any other name is one of its users. */
function toTarget(name: string): object {
  return /^\+?\d+$/.test(name) ? { type: 'phone', number: name } : { type: 'user', name }
}

/** Returns undefined if the body does not name an agent and a customer. */
function readJson(body: string): Payload | undefined {
  try {
    const asked = JSON.parse(body) as Payload | null
    return text(asked?.['agent']) === '' || text(asked?.['customer']) === ''
      ? undefined
      : (asked ?? undefined)
  } catch {
    return undefined
  }
}

export const clickToCall: Example = {
  users: ['agent', 'customer'],
  takesCalls: false,
  howTo: ({ url }) => [
    `Open ${url}/ and press the button, or:`,
    `  curl ${url}/click -H 'Content-Type: application/json' -d '{"agent": "agent", "customer": "customer"}'`,
    'The phone of agent rings; when it is taken, that of customer rings, and the two talk.',
  ],
  create: ({ api, application_sid }) => ({
    pages: {
      'GET /': () => ({ type: 'text/html; charset=utf-8', body: page }),
      // A page from another site cannot send this content type without a preflight request, and so cannot place calls.
      'POST /click': async ({ contentType, body }) => {
        if (!contentType.startsWith('application/json'))
          return json(415, { msg: 'application/json is required' })
        const asked = readJson(body)
        if (asked === undefined)
          return json(400, {
            msg: 'The body must be an object in JSON: {"agent": "agent", "customer": "customer"}.',
          })
        const { agent, customer } = asked
        try {
          const call = await api('POST', '/Calls', {
            from: callerId,
            to: { type: 'user', name: text(agent) },
            application_sid,
            // Every hook of the call returns this as customerData.
            tag: { customer: text(customer) },
            timeout: 20,
          })
          return json(201, call as object)
        } catch (error) {
          return json(502, { msg: error instanceof Error ? error.message : String(error) })
        }
      },
    },
    hooks: {
      // This hook is asked when the agent has answered.
      '/call': ({ customerData }) => {
        const { customer } = customerData as { readonly customer: string }
        return [
          { verb: 'say', text: 'You will be connected.' },
          { verb: 'dial', target: [toTarget(customer)], callerId, timeout: 30, actionHook: '/dialled' },
        ]
      },
      '/dialled': ({ dial_call_status }) =>
        dial_call_status === 'completed'
          ? [{ verb: 'hangup' }]
          : [{ verb: 'say', text: 'The customer does not take the call.' }, { verb: 'hangup' }],
    },
  }),
}

// A call centre: callers wait in a queue, agents take one after another, and a page serves as a wallboard.
// Run it with `npm run example -- call-centre`.
import { text, type Example, type Payload, type Verb } from './run/example.ts'

const queue = 'support'
const agents = ['anna', 'ben']

/** The number that agents dial to take callers. */
export const agentNumber = '501'

/** The wait after which a caller is asked to leave, in seconds. */
export const patienceSeconds = 300

export const leaving = 'No one can take your call today. Please call again tomorrow. Goodbye.'

const say = (words: string): Verb => ({ verb: 'say', text: words })

const takeNext: Verb = { verb: 'dequeue', name: queue, beep: true, actionHook: '/finished' }

/** The data of the page, computed from the events of the queue alone. */
export class Wallboard {
  /** The time at which each waiting caller joined, by call_sid. */
  readonly #waiting = new Map<string, number>()
  #taken = 0
  #gaveUp = 0
  #waitedMs = 0
  /** The number of callers that each agent took. */
  readonly #agents = new Map<string, number>()

  take(event: Payload): void {
    const call_sid = text(event['call_sid'])
    if (event['event'] === 'join') return void this.#waiting.set(call_sid, Number(event['join_time']))
    const since = this.#waiting.get(call_sid)
    this.#waiting.delete(call_sid)
    if (event['leave_reason'] !== 'dequeued') return void (this.#gaveUp += 1)
    this.#taken += 1
    this.#waitedMs += Number(event['leave_time']) - (since ?? Number(event['leave_time']))
    const agent = text((event['dequeuer'] as Payload | undefined)?.['from'])
    this.#agents.set(agent, (this.#agents.get(agent) ?? 0) + 1)
  }

  data(nowMs: number): object {
    const oldest = Math.min(...this.#waiting.values())
    return {
      waiting: this.#waiting.size,
      longest_wait_seconds: this.#waiting.size === 0 ? 0 : Math.floor((nowMs - oldest) / 1000),
      taken: this.#taken,
      gave_up: this.#gaveUp,
      average_wait_seconds: this.#taken === 0 ? 0 : Math.round(this.#waitedMs / this.#taken / 1000),
      agents: Object.fromEntries(this.#agents),
    }
  }
}

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Wallboard - Switchhook</title>
    <link rel="stylesheet" href="/page.css" />
  </head>
  <body>
    <main class="wide">
      <h1>Queue "${queue}"</h1>
      <p class="note">What the events of the queue tell the application. Data: <a href="/wallboard">/wallboard</a></p>
      <dl class="figures">
        <div><dt>waiting</dt><dd id="waiting">-</dd></div>
        <div><dt>longest wait</dt><dd id="longest_wait_seconds">-</dd></div>
        <div><dt>average wait</dt><dd id="average_wait_seconds">-</dd></div>
        <div><dt>taken</dt><dd id="taken">-</dd></div>
        <div><dt>gave up</dt><dd id="gave_up">-</dd></div>
      </dl>
      <table>
        <thead><tr><th>Agent</th><th>Callers taken</th></tr></thead>
        <tbody id="agents"></tbody>
      </table>
      <p id="state" class="note" role="status"></p>
    </main>
    <script>
      const part = (id) => document.getElementById(id)
      const cell = (text) => Object.assign(document.createElement('td'), { textContent: text })
      const row = (cells) => {
        const made = document.createElement('tr')
        made.append(...cells.map(cell))
        return made
      }
      const show = async () => {
        try {
          const { agents, ...figures } = await (await fetch('/wallboard')).json()
          for (const [name, value] of Object.entries(figures))
            part(name).textContent = name.endsWith('_seconds') ? value + ' s' : value
          const rows = Object.entries(agents).map(row)
          part('agents').replaceChildren(...(rows.length > 0 ? rows : [row(['no one yet', ''])]))
          part('state').textContent = ''
        } catch {
          part('state').textContent = 'The example does not respond: these are its last figures.'
        }
      }
      setInterval(show, 1000)
      show()
    </script>
  </body>
</html>
`

/** Returns the verbs for a waiting caller; the hook is asked again when they have run. */
function whileWaiting({ queue_position: before, queue_time: seconds }: Payload): Verb[] {
  if (Number(seconds) >= patienceSeconds) return [say(leaving), { verb: 'leave' }]
  const place = before === 0 ? 'You are next.' : `There are ${String(before)} callers before you.`
  return [say(place), { verb: 'pause', length: 10 }]
}

export const callCentre: Example = {
  users: ['caller', ...agents],
  takesCalls: true,
  hearsOfQueues: true,
  howTo: ({ url }) => [
    'Dial 500 from the phone of caller: it waits, and hears where it stands.',
    `Dial ${agentNumber} from the phone of anna or ben: it talks with the next caller, and when the two have parted, with the one after.`,
    `The wallboard is at ${url}/, its data at ${url}/wallboard.`,
  ],
  create() {
    const wallboard = new Wallboard()
    return {
      pages: {
        'GET /': () => ({ type: 'text/html; charset=utf-8', body: page }),
        'GET /wallboard': () => ({
          type: 'application/json',
          body: JSON.stringify(wallboard.data(Date.now())),
        }),
      },
      hooks: {
        '/call': ({ to, from }) => {
          if (to === agentNumber && agents.includes(text(from)))
            return [say('You will hear a tone when a caller comes.'), takeNext]
          const wait: Verb = { verb: 'enqueue', name: queue, waitHook: '/waiting', actionHook: '/left' }
          return [say('Welcome. Please wait for the next agent.'), wait]
        },
        '/waiting': whileWaiting,
        // The agent stays, and takes the next caller.
        '/finished': () => [takeNext],
        '/left': ({ queue_result }) =>
          queue_result === 'bridged'
            ? [say('Thank you for calling. Goodbye.'), { verb: 'hangup' }]
            : [{ verb: 'hangup' }],
        '/queue-event': (event) => {
          wallboard.take(event)
          return []
        },
      },
    }
  },
}

// The first page of /docs: from nothing to a first call in five commands, and further links.
import { html } from './html.ts'
import { page } from './layout.ts'

/** The commands of the page, which a test runs as they are written here. */
export const firstCall: readonly { readonly says: string; readonly command: string }[] = [
  {
    says: 'The first start of the platform has printed these two. Put them where the commands below find them:',
    command: "export KEY='<the account API key>'\nexport ACCOUNT='<the account>'",
  },
  {
    says: 'An application: the verbs to run for a call. Here they are in the application; a `call_hook` asks your own web server for them.',
    command: `curl -X POST http://127.0.0.1:3000/v1/Applications \\
  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" -d '{
  "name": "first",
  "account_sid": "'$ACCOUNT'",
  "call_hook": {"url": "http://127.0.0.1:4000/call"},
  "call_status_hook": {"url": "http://127.0.0.1:4000/status"},
  "app_json": "[{\\"verb\\": \\"say\\", \\"text\\": \\"Hello from the platform.\\"}, {\\"verb\\": \\"hangup\\"}]"
}'`,
  },
  {
    says: 'Keep the id that it returned. Then a SIP realm, which is a name with two dots inside the platform, and a user for a phone:',
    command: `export APPLICATION=<sid>
curl -X POST http://127.0.0.1:3000/v1/Accounts/$ACCOUNT/SipRealms/phones.example.test \\
  -H "Authorization: Bearer $KEY"
curl -X POST http://127.0.0.1:3000/v1/Clients \\
  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -d '{"account_sid": "'$ACCOUNT'", "username": "alice", "password": "a-long-secret"}'`,
  },
  {
    says: 'Call it, in the folder of the platform, with a phone for the terminal (or with a softphone: user, password and realm as above, and this machine as outbound proxy):',
    command:
      'npm run -s call -- sip:app-$APPLICATION@phones.example.test --user alice --password a-long-secret',
  },
  {
    says: 'And see what happened. Each record has a journal, at the same address with its `call_sid` and `/journal`:',
    command: `curl -H "Authorization: Bearer $KEY" \\
  "http://127.0.0.1:3000/v1/Accounts/$ACCOUNT/RecentCalls?page=1&count=25"`,
  },
]

export function startPage(): string {
  return page({
    title: 'Switchhook',
    content: html`<h1>Switchhook</h1>
      <p>
        This is a voice platform. A call comes in over SIP; the platform asks your web server what to do; your
        server answers with <a href="/docs/verbs">verbs</a> in JSON. Everything is set up and watched through
        a <a href="/docs/resources">REST interface</a>.
      </p>
      <h2 id="first-call">A first call</h2>
      <p>
        To see a call before you set anything up, run <code>npm run demo</code> in the folder of the platform.
      </p>
      ${firstCall.map(
        ({ says, command }) =>
          html`<p>
              ${says.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}
            </p>
            <pre>${command}</pre>`,
      )}
      <h2 id="further">Further</h2>
      <ul>
        <li><a href="/docs/verbs">Verbs</a>: what an application may answer</li>
        <li><a href="/docs/hooks">Hooks</a>: what your server is sent</li>
        <li><a href="/docs/audio-streams">Audio servers</a>: what they are sent, and may say</li>
        <li><a href="/docs/websocket">Applications over WebSocket</a>: its messages and commands</li>
        <li>
          <a href="/docs/resources">Resources</a>: every endpoint with its fields, errors and an example
        </li>
        <li><a href="/docs/errors">Error codes</a>: each with its cause and its cure</li>
        <li><a href="/docs/routing">Routing</a>: which rule decides where a call goes</li>
        <li><a href="/docs/settings">Settings</a>: what the operator may set</li>
        <li><a href="/docs/guides">Guides</a>: carriers, signatures, production and more</li>
      </ul>`,
  })
}

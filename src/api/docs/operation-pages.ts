// The pages about the operation of the platform: the rules that decide a call, and the settings.
import { ruleGroups } from '../../calls/rules.ts'
import { html } from './html.ts'
import { prose } from './markdown.ts'
import { page } from './layout.ts'
import { tableOf } from './table.ts'

/** A setting as the page describes it. */
export interface SettingDescription {
  readonly name: string
  readonly fallback: string
  readonly describe: string
}

const anchorOf = (title: string): string => title.toLowerCase().replaceAll(' ', '-')

export function routingPage(): string {
  return page({
    title: 'How calls are routed',
    menu: html`<strong>Routing</strong>
      <ul>
        ${ruleGroups.map(({ title }) => html`<li><a href="#${anchorOf(title)}">${title}</a></li>`)}
      </ul>`,
    content: html`<h1>How calls are routed</h1>
      <p>
        Each choice that the platform makes about a call is an event of type <code>decision</code> in the
        journal of the call: <code>rule</code> is one of the names below, <code>outcome</code> what was
        chosen. Within a group that chooses, the rules are asked from top to bottom, and the first that
        applies decides. Codes of refusals are explained among the <a href="/docs/errors">error codes</a>.
      </p>
      ${ruleGroups.map(
        ({ title, question, rules }) =>
          html`<h2 id="${anchorOf(title)}">${title}</h2>
            <p>${prose(question)}</p>
            ${tableOf(
              ['Rule', 'What it finds', 'What it decides'],
              Object.entries(rules).map(([name, { sentence, decides }]) => ({
                id: name,
                cells: [html`<code>${name}</code>`, prose(sentence), prose(decides)],
              })),
            )}`,
      )}`,
  })
}

export function settingsPage(settings: readonly SettingDescription[]): string {
  return page({
    title: 'Settings',
    content: html`<h1>Settings</h1>
      <p>Every setting is an environment variable. A wrong one stops the start with its name and the rule.</p>
      ${tableOf(
        ['Setting', 'Default', 'Meaning'],
        settings.map(({ name, fallback, describe }) => ({
          id: name,
          cells: [
            html`<code>${name}</code>`,
            fallback === '' ? 'empty' : html`<code>${fallback}</code>`,
            prose(describe),
          ],
        })),
      )}`,
  })
}

// The pages of /docs for the guides in docs/guides, and for those files in docs/reference that are only text.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { html, type Html } from './html.ts'
import { page } from './layout.ts'
import { markdown, slugOf } from './markdown.ts'

const folder = join(import.meta.dirname, '../../../docs/guides')

/** Returns the names of the guides, in the order in which the README of the folder lists them. */
function guideNames(): readonly string[] {
  if (!existsSync(folder)) return []
  return Array.from(textOf('README').matchAll(/^\| \[[^\]]*\]\(([\w-]+)\.md\)/gm), ([, name = '']) => name)
}

const textOf = (name: string): string => readFileSync(join(folder, `${name}.md`), 'utf8')
const titleOf = (name: string): string => /^# (.*)$/m.exec(textOf(name))?.[1] ?? name
const urlOf = (name: string): string => `/docs/guides/${name}`

export interface GuideLink {
  readonly title: string
  readonly url: string
}

export function guideLinks(): readonly GuideLink[] {
  return guideNames().map((name) => ({ title: titleOf(name), url: urlOf(name) }))
}

export interface GuideSection extends GuideLink {
  readonly guide: string
  readonly text: string
  /** Each word of the section once, commands and files included, in lower case. */
  readonly words: string
}

/** Returns the headings within the guides, each with the text below it. */
export function guideSections(): readonly GuideSection[] {
  return guideNames().flatMap((name) => {
    const [, ...sections] = textOf(name)
      .replaceAll(/^<!--[^]*?-->$/gm, '')
      .split(/^## /m)
    return sections.map((section) => {
      const [title = '', ...lines] = section.replaceAll(/^```[^]*?^```$/gm, '').split('\n')
      const text = lines.filter((line) => line !== '' && !line.startsWith('|')).join('\n')
      const words = [...new Set(section.toLowerCase().match(/[\w][\w.-]+/g))].join(' ')
      return { title, guide: titleOf(name), text, words, url: `${urlOf(name)}#${slugOf(title)}` }
    })
  })
}

export function guidesPage(): string {
  const text = existsSync(folder) ? textOf('README') : '# Guides\n\nThey are not beside this program.'
  return page({ title: 'Guides', menu: guideMenu(), content: markdown(text, lead) })
}

/** Returns undefined if there is no such guide. */
export function guidePage(name: string): string | undefined {
  if (!guideNames().includes(name)) return undefined
  return page({ title: titleOf(name), menu: guideMenu(), content: markdown(textOf(name), lead) })
}

function guideMenu(): Html {
  return html`<strong>Guides</strong>
    <ul>
      ${guideLinks().map(({ title, url }) => html`<li><a href="${url}">${title}</a></li>`)}
    </ul>`
}

/**
 * Returns a page of docs/reference, which is generated from the declarations; undefined if it is not beside this
 * program.
 */
export function referencePage(name: string): string | undefined {
  const file = join(folder, `../reference/${name}.md`)
  if (!existsSync(file)) return undefined
  const text = readFileSync(file, 'utf8').replace(/^Generated from .*\n/m, '')
  return page({ title: /^# (.*)$/m.exec(text)?.[1] ?? name, content: markdown(text, lead) })
}

const references = new Set([
  'audio-streams',
  'destinations',
  'websocket',
  'verbs',
  'hooks',
  'resources',
  'errors',
  'routing',
  'settings',
])

/** Returns the address of a link. Other guides and the reference are here; the rest of the repository is not. */
function lead(target: string): string | undefined {
  if (target.startsWith('#')) return target
  const [, reference = ''] = /^\.\.\/reference\/([a-z-]+)\.md/.exec(target) ?? []
  if (references.has(reference)) return `/docs/${reference}`
  const [, guide = ''] = /^(?:\.\.\/guides\/)?([a-z-]+)\.md/.exec(target) ?? []
  return guideNames().includes(guide) ? urlOf(guide) : undefined
}

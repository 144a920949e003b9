// The tables of /docs. On a narrow page the cells are below each other, each with the heading of its column.
import { Html, html } from './html.ts'

export interface Row {
  readonly id?: string | undefined
  readonly cells: readonly (Html | string | number)[]
}

/** The heading of a column whose cells need no label. */
const plainHeading = 'Meaning'

export function tableOf(headings: readonly string[], rows: readonly Row[]): Html {
  const labels = headings.map((heading, at) =>
    at === 0 || headings.length < 3 || heading === plainHeading
      ? undefined
      : html`<span class="label">${heading}:</span> `,
  )
  return html`<table>
    <thead>
      <tr>
        ${headings.map((heading) => html`<th>${heading}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        ({ id, cells }) =>
          html`<tr${id === undefined ? '' : html` id="${id}"`}>
            ${cells.map((cell, at) => html`<td>${isEmpty(cell) ? '' : html`${labels[at]}${cell}`}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`
}

/** Reports an empty cell, which has no label either. */
function isEmpty(cell: Html | string | number): boolean {
  return (cell instanceof Html ? cell.text : String(cell)).trim() === ''
}

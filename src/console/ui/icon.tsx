/** Icons of 20 × 20. Hidden from screen readers, because a text stands beside each. */
const paths = {
  home: 'M3 9.5 10 4l7 5.5V16a1 1 0 0 1-1 1h-4v-5H8v5H4a1 1 0 0 1-1-1z',
  orders: 'M5 3h10v14l-2.5-1.5L10 17l-2.5-1.5L5 17zM8 7h4M8 10h4',
  products: 'M3 6.5 10 3l7 3.5v7L10 17l-7-3.5zM3 6.5 10 10l7-3.5M10 10v7',
  people: 'M7.5 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2 17c0-3 2.4-5 5.5-5s5.5 2 5.5 5M13 3.4a3 3 0 0 1 0 5.2M15 12.4c1.8.8 3 2.5 3 4.6',
  tag: 'M3 10V3h7l7 7-7 7zM6.5 6.5h.01',
  gift: 'M3 8h14v3H3zM4.5 11v6h11v-6M10 8v9M10 8S9 3.5 6.8 3.5 5 8 10 8zm0 0s1-4.5 3.2-4.5S15 8 10 8z',
  page: 'M5 3h7l3 3v11H5zM12 3v3h3M8 10h4M8 13h4',
  settings: 'M4 6h7M15 6h1M4 14h1M9 14h7M11 4v4M5 12v4',
  money: 'M3 5h14v10H3zM10 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM5.5 7.5h.01M14.5 12.5h.01',
  chart: 'M3 17h14M5 14v-4M9 14V5M13 14V8M17 14v-2',
  server: 'M3 4h14v5H3zM3 11h14v5H3zM6 6.5h.01M6 13.5h.01',
  chain: 'M8.5 11.5a3 3 0 0 0 4.2 0l2.6-2.600a3 3 0 0 0-4.2-4.200L10 5.800M11.5 8.5a3 3 0 0 0-4.2 0l-2.6 2.600a3 3 0 0 0 4.2 4.200l1.1-1.1',
  shield: 'M10 3 4 5v5c0 3.5 2.5 6 6 7 3.5-1 6-3.5 6-7V5z',
  clock: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4l2.5 2.5',
  book: 'M4 4h5a2 2 0 0 1 1 .5A2 2 0 0 1 11 4h5v12h-5a1 1 0 0 0-1 1 1 1 0 0 0-1-1H4zM10 4.5V17',
  search: 'M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM13 13l4 4',
  menu: 'M3 5h14M3 10h14M3 15h14',
  close: 'm5 5 10 10M15 5 5 15',
  plus: 'M10 4v12M4 10h12',
  down: 'm5 8 5 5 5-5',
  left: 'm12 5-5 5 5 5',
  right: 'm8 5 5 5-5 5',
  check: 'm4 10.5 4 4 8-9',
  warn: 'M10 3 2 17h16zM10 8v4M10 14.5h.01',
  more: 'M5 10h.01M10 10h.01M15 10h.01',
  upload: 'M10 13V4m-4 4 4-4 4 4M3 16h14',
  download: 'M10 4v9m-4-4 4 4 4-4M3 16h14',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  truck: 'M2 5h10v9H2zM12 8h3.5L18 11v3h-6zM5.5 16.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM14.5 16.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z',
  grip: 'M7 5h.01M7 10h.01M7 15h.01M13 5h.01M13 10h.01M13 15h.01',
  bell: 'M5 14V9a5 5 0 0 1 10 0v5l1 1H4zM8.5 17h3',
} as const

export type IconName = keyof typeof paths

export const Icon = ({ name }: { name: IconName }) => (
  <svg class={`icon${name === 'left' || name === 'right' ? ' mirrored' : ''}`} viewBox="0 0 20 20" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
)

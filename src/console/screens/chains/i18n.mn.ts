import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  none: 'Блокчэйн тохируулаагүй',
  noneText: 'Блокчэйнээс баталгаа тооцохын тулд CHAINS-ийг тохируулна уу.',
  head: 'Сүүлийн блок',
  target: 'Эцэслэсэн блок',
  cursor: 'Синк хийсэн блок',
  lag: 'Хоцорсон блок',
  synced: 'Сүүлийн синк',
  provider: 'Идэвхтэй RPC зангилаа',
  nodes: 'RPC зангилаа',
  error: 'Сүүлийн алдаа',
  halted: 'Синк зогссон',
  contract: 'Ухаалаг гэрээ',
  rescan: 'Дахин синк хийсэн блок',
  notConfigured: 'CHAINS-д байхгүй болсон. Одоо байгаа өгөгдөл хадгалагдана.',
  ready: 'Бэлэн',
  resting: 'Түр хүлээж байна',
  failing: 'Доголдолтой',
  inUse: 'Ашиглаж буй',
  failures: 'Алдаа',
  backfills: 'Нөхөн уншилт',
  chain: 'Блокчэйн {id}',
  until: '{at} хүртэл',
} satisfies Translation<typeof en>

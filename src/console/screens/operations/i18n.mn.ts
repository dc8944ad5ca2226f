import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  services: 'Ажиллаж буй зүйлс',
  service: 'Үйлчилгээ',
  revision: 'Хувилбар',
  running: 'Ажиллаж буй',
  desired: 'Хэрэгтэй',
  pending: 'Эхэлж буй',
  steady: 'Тогтвортой',
  rolling: 'Солигдож буй',
  degraded: 'Доголдсон',
  unknown: 'Тодорхойгүй',
  errors: 'Сүүлийн {n} цагийн алдаа',
  events: 'Тохиолдол',
  unresolved: 'Шийдээгүй',
  last: 'Сүүлд гарсан',
  quiet: 'Алдаа алга',
  quietText: 'Эдгээр цагт юу ч доголдоогүй.',
  deploys: 'Сүүлийн суулгалт',
  environment: 'Орчин',
  deployed: 'Суулгасан',
  noDeploys: 'Суулгалт бүртгэгдээгүй',
  noServices: 'Үйлчилгээ бүртгэгдээгүй',
} satisfies Translation<typeof en>

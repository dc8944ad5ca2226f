import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  services: 'Үйлчилгээ',
  service: 'Үйлчилгээ',
  revision: 'Хувилбар',
  running: 'Ажиллаж буй',
  desired: 'Шаардлагатай',
  pending: 'Эхэлж буй',
  steady: 'Хэвийн',
  rolling: 'Шинэчлэгдэж байна',
  degraded: 'Доголдолтой',
  unknown: 'Тодорхойгүй',
  errors: 'Алдаа (сүүлийн {n} цаг)',
  events: 'Тоо',
  unresolved: 'Шийдвэрлээгүй',
  last: 'Сүүлд гарсан',
  quiet: 'Алдаа алга',
  quietText: 'Энэ хугацаанд алдаа гараагүй',
  deploys: 'Шинэчлэлтүүд',
  environment: 'Орчин',
  deployed: 'Шинэчилсэн',
  noDeploys: 'Шинэчлэлт алга',
  noServices: 'Үйлчилгээ алга',
} satisfies Translation<typeof en>

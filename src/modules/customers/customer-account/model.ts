import { pageOf } from '../../../http/schema.ts'
import { OrderRecord } from '../../selling/order/model.ts'

export const OwnOrders = pageOf(OrderRecord)

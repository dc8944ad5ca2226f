ALTER TABLE "carts" ADD COLUMN "gift_card_recipient" text;--> statement-breakpoint
ALTER TABLE "gift_cards" ADD COLUMN "order_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "gift_cards" ADD COLUMN "order_line_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "gift_cards" ADD COLUMN "unit" integer;--> statement-breakpoint
ALTER TABLE "gift_cards" ADD COLUMN "refund_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "order_lines" ADD COLUMN "gift_card" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "gift_card_recipient" text;--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "kind" text COLLATE "C" DEFAULT 'STANDARD' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "gift_cards_sold" ON "gift_cards" USING btree ("order_id","order_line_id","unit") WHERE order_id is not null;
CREATE TABLE "fulfilments" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"order_id" text COLLATE "C" NOT NULL,
	"lines" text NOT NULL,
	"tracking_number" text COLLATE "C",
	"carrier" text COLLATE "C",
	"attempt_key" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"version" integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "order_notes" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"order_id" text COLLATE "C" NOT NULL,
	"text" text COLLATE "C" NOT NULL,
	"actor" text COLLATE "C" NOT NULL,
	"at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "fulfilments" ADD CONSTRAINT "fulfilments_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "order_notes" ADD CONSTRAINT "order_notes_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "fulfilments_order" ON "fulfilments" USING btree ("order_id","id");--> statement-breakpoint
CREATE INDEX "order_notes_order" ON "order_notes" USING btree ("order_id","id");--> statement-breakpoint
-- by hand: an order that was sent before was sent whole, in one parcel, under the suffix of its own id
INSERT INTO "fulfilments" ("id", "order_id", "lines", "tracking_number", "carrier", "created_at", "updated_at")
SELECT 'ful_' || substr(o."id", 7), o."id",
  coalesce((SELECT json_agg(json_build_object('lineId', l."id", 'quantity', l."quantity") ORDER BY l."position")::text FROM "order_lines" l WHERE l."order_id" = o."id"), '[]'),
  o."tracking_number", o."carrier", coalesce(o."fulfilled_at", o."updated_at"), coalesce(o."fulfilled_at", o."updated_at")
FROM "orders" o WHERE o."fulfilment_status" = 'FULFILLED';

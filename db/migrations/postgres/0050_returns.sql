CREATE TABLE "returns" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"order_id" text COLLATE "C" NOT NULL,
	"shop_id" text COLLATE "C" NOT NULL,
	"status" text COLLATE "C" NOT NULL,
	"lines" text NOT NULL,
	"requested_by" text COLLATE "C" NOT NULL,
	"rejection" text COLLATE "C",
	"restocked" boolean DEFAULT false NOT NULL,
	"refund_id" text COLLATE "C",
	"attempt_key" text COLLATE "C",
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "shops" ADD COLUMN "return_days" integer DEFAULT 30 NOT NULL;--> statement-breakpoint
ALTER TABLE "returns" ADD CONSTRAINT "returns_order_id_orders_id_fk" FOREIGN KEY ("order_id") REFERENCES "public"."orders"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "returns" ADD CONSTRAINT "returns_shop_id_shops_id_fk" FOREIGN KEY ("shop_id") REFERENCES "public"."shops"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "returns_order" ON "returns" USING btree ("order_id","id");--> statement-breakpoint
CREATE INDEX "returns_open" ON "returns" USING btree ("shop_id","order_id") WHERE status in ('REQUESTED', 'APPROVED');